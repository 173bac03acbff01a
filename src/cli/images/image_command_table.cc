#include <array>

#include "cli/commands.h"
#include "cli/gcloud/common_flags.h"
#include "cli/images/images_commands.h"

namespace trainyard::cli {
namespace {

constexpr FlagSpec kInsecureRegistryFlag =
    Repeated({"--insecure-registry", "HOST[:PORT]",
              "A registry without TLS. Registries on this machine need not be named."});
constexpr auto kImagesFlags = WithCommonFlags({kDataDirFlag});
constexpr auto kPullFlags = WithCommonFlags({kDataDirFlag, kInsecureRegistryFlag});
constexpr auto kRemoveImagesFlags = WithCommonFlags(
    {kDataDirFlag, {"--unused", "", "All images that no job uses now, including loaded ones."}});
constexpr auto kLoginFlags =
    WithCommonFlags({kDataDirFlag,
                     kInsecureRegistryFlag,
                     {"--username", "USER",
                      "Name of the account. The command prompts for the password, or reads it from stdin."}});

const Command kCommands[] = {
    {.spec = {.path = "images inspect",
              .summary = "Describe a container image on this machine.",
              .positional = "IMAGE",
              .flags = kImagesFlags,
              .examples = "images inspect registry.local/census:1"},
     .run = InspectImage},
    {.spec = {.path = "images list",
              .summary = "List the container images on this machine.",
              .flags = kImagesFlags,
              .examples = "images list\n"
                          "images list --format=json"},
     .run = ListImages},
    {.spec = {.path = "images load",
              .summary = "Load container images from an archive or directory.",
              .positional = "FILE",
              .flags = kImagesFlags,
              .examples = "images load census.tar"},
     .run = LoadImages},
    {.spec = {.path = "images pull",
              .summary = "Fetch and unpack a container image.",
              .positional = "IMAGE",
              .flags = kPullFlags,
              .examples = "images pull docker.io/library/python:3.11"},
     .run = PullImage},
    {.spec = {.path = "images push",
              .summary = "Copy a container image to a registry.",
              .positional = "IMAGE",
              .second = "DESTINATION",
              .flags = kPullFlags,
              .examples = "images push census:1 registry.local/census:1"},
     .run = PushImage},
    {.spec = {.path = "images remove",
              .summary = "Remove container images from this machine.",
              .positional = "IMAGE",
              .repeats = true,
              .optional = true,
              .flags = kRemoveImagesFlags,
              .examples = "images remove registry.local/census:1\n"
                          "images remove --unused"},
     .run = RemoveImages},
    {.spec = {.path = "registries list",
              .summary = "List the registries with stored credentials.",
              .flags = kImagesFlags,
              .examples = "registries list"},
     .run = ListRegistries},
    {.spec = {.path = "registries login",
              .summary = "Store the credentials of a registry for jobs.",
              .positional = "REGISTRY",
              .flags = kLoginFlags,
              .examples = "registries login registry.local --username=ann"},
     .run = LogInToRegistry},
    {.spec = {.path = "registries logout",
              .summary = "Remove the credentials of a registry.",
              .positional = "REGISTRY",
              .flags = kImagesFlags,
              .examples = "registries logout registry.local"},
     .run = LogOutOfRegistry},
};

}  // namespace

std::span<const Command> ImagesCommands() { return kCommands; }

}  // namespace trainyard::cli
