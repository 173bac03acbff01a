#include <array>

#include "cli/commands.h"
#include "cli/gcloud/common_flags.h"
#include "cli/storage/storage_commands.h"

namespace trainyard::cli {
namespace {

constexpr auto kCopyFlags = WithCommonFlags(
    {{"--recursive", "", "Include directories and all their contents. -r and -R are the same."}});
constexpr auto kLsFlags =
    WithCommonFlags({{"--long", "", "Print sizes and times, too. -l is the same."},
                     {"--recursive", "", "List all objects below. -r and -R are the same."}});

const Command kCommands[] = {
    {.spec = {.path = "storage cat",
              .summary = "Print objects.",
              .positional = "URL",
              .repeats = true,
              .flags = kCommonFlags,
              .examples = "storage cat gs://bucket/census_1/metrics.json"},
     .run = PrintObjects},
    {.spec = {.path = "storage cp",
              .summary = "Copy files and objects.",
              .positional = "SOURCE",
              .repeats = true,
              .flags = kCopyFlags,
              .examples = "storage cp model.tar.gz gs://bucket/models/\n"
                          "storage cp --recursive gs://bucket/census_1 ."},
     .run = CopyFiles},
    {.spec = {.path = "storage ls",
              .summary = "List buckets and objects.",
              .positional = "URL",
              .repeats = true,
              .optional = true,
              .flags = kLsFlags,
              .examples = "storage ls\n"
                          "storage ls --long gs://bucket/census_1/"},
     .run = ListStorage},
    {.spec = {.path = "storage rm",
              .summary = "Delete objects.",
              .positional = "URL",
              .repeats = true,
              .flags = kCopyFlags,
              .examples = "storage rm --recursive gs://bucket/census_1/"},
     .run = RemoveObjects},
};

}  // namespace

std::span<const Command> StorageCommands() { return kCommands; }

}  // namespace trainyard::cli
