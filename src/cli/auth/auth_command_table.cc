#include <algorithm>
#include <array>

#include "cli/auth/auth_commands.h"
#include "cli/commands.h"
#include "cli/gcloud/common_flags.h"

namespace trainyard::cli {
namespace {

constexpr FlagSpec kPrincipalFlag{
    .name = "--principal",
    .metavar = "PRINCIPAL",
    .help = "Whom the token stands for: user:NAME@DOMAIN or serviceAccount:E-MAIL.",
    .required = true};
constexpr FlagSpec kProjectsFlag{.name = "--project",
                                 .kind = FlagKind::kAppend,
                                 .metavar = "PROJECT",
                                 .help = "Project on which the roles are bound. Repeat it for more."};

/// Here --project may be given several times.
constexpr auto CreateFlags() {
  auto flags = WithCommonFlags(std::array{
      kDataDirFlag,
      FlagSpec{.name = "--description", .metavar = "TEXT", .help = "What the token is for, in lists."},
      FlagSpec{.name = "--life",
               .metavar = "DURATION",
               .help = "How long the token is valid: 30m, 8h, 90d. Default: until it is revoked."},
      kPrincipalFlag,
      FlagSpec{.name = "--role",
               .kind = FlagKind::kAppend,
               .metavar = "ROLE",
               .help = "Role to bind to the principal first: ml.developer, or roles/ml.developer. Repeat it "
                       "for more. Without --project it is bound on the whole installation."}});
  std::ranges::replace_if(
      flags, [](const FlagSpec& flag) { return flag.name == "--project"; }, kProjectsFlag);
  return flags;
}
constexpr auto kCreateFlags = CreateFlags();
constexpr auto kDataFlags = WithCommonFlags(std::array{kDataDirFlag});
constexpr auto kTokenListFlags = WithCommonFlags(std::array{
    kDataDirFlag,
    FlagSpec{.name = "--principal", .metavar = "PRINCIPAL", .help = "Print only this principal's tokens."}});
constexpr auto kLoginFlags = WithCommonFlags(std::array{
    FlagSpec{.name = "--ca-file",
             .metavar = "FILE",
             .help = "Certificate to trust there. Default: the system's, or the local server's own."},
    FlagSpec{.name = "--token-file",
             .metavar = "FILE",
             .help = "File with the token; - reads it from stdin.",
             .required = true}});

const Command kCommands[] = {
    {.spec = {.path = "auth list",
              .summary = "List the servers that this account has logged in to.",
              .flags = kOnlyCommonFlags,
              .examples = "auth list"},
     .run = ListLogins},
    {.spec = {.path = "auth login",
              .summary = "Log in to a server with a token, for all later commands.",
              .flags = kLoginFlags,
              .examples =
                  "auth login --server https://yard.example:8443 --ca-file ca.pem --token-file token\n"
                  "auth login --server https://yard.example:8443 --token-file -"},
     .run = LogIn},
    {.spec = {.path = "auth logout",
              .summary = "Forget the login for a server. Its token stays valid.",
              .flags = kOnlyCommonFlags,
              .examples = "auth logout"},
     .run = LogOut},
    {.spec = {.path = "auth print-access-token",
              .summary = "Print the token that commands send.",
              .flags = kDataFlags,
              .examples = "auth print-access-token"},
     .run = PrintAccessToken},
    {.spec = {.path = "auth revoke",
              .summary = "Revoke the token of a login, and forget the login.",
              .flags = kOnlyCommonFlags,
              .examples = "auth revoke"},
     .run = RevokeLogin},
    {.spec = {.path = "auth token create",
              .summary = "Make a token for a person or service account, with roles. Prints the token alone.",
              .flags = kCreateFlags,
              .examples =
                  "auth token create --principal user:ann@example.com --role ml.developer --project p\n"
                  "auth token create --principal user:root@example.com --role trainyard.admin --life 8h"},
     .run = CreateToken},
    {.spec = {.path = "auth token list",
              .summary = "List tokens: one's own; an administrator's list has all.",
              .flags = kTokenListFlags,
              .examples = "auth token list"},
     .run = ListTokens},
    {.spec = {.path = "auth token revoke",
              .summary = "Revoke tokens by their ids.",
              .positional = "TOKEN_ID",
              .repeats = true,
              .flags = kDataFlags,
              .examples = "auth token revoke 0123456789"},
     .run = RevokeToken},
};

}  // namespace

std::span<const Command> AuthCommands() { return kCommands; }

}  // namespace trainyard::cli
