#include <algorithm>
#include <array>

#include "cli/auth/auth_commands.h"
#include "cli/commands.h"
#include "cli/gcloud/common_flags.h"

namespace trainyard::cli {
namespace {

constexpr FlagSpec kPrincipalFlag = Required(
    {"--principal", "PRINCIPAL", "Whom the token stands for: user:NAME@DOMAIN or serviceAccount:E-MAIL."});
constexpr FlagSpec kProjectsFlag =
    Repeated({"--project", "PROJECT", "Project on which the roles are bound. Repeat it for more."});

/// Here --project may be given several times.
constexpr auto CreateFlags() {
  auto flags = WithCommonFlags(
      {kDataDirFlag,
       {"--description", "TEXT", "What the token is for, in lists."},
       {"--life", "DURATION", "How long the token is valid: 30m, 8h, 90d. Default: until it is revoked."},
       kPrincipalFlag,
       Repeated({"--role", "ROLE",
                 "Role to bind to the principal first: ml.developer, or roles/ml.developer. Repeat it "
                 "for more. Without --project it is bound on the whole installation."})});
  std::ranges::replace_if(
      flags, [](const FlagSpec& flag) { return flag.name == "--project"; }, kProjectsFlag);
  return flags;
}
constexpr auto kCreateFlags = CreateFlags();
constexpr auto kDataFlags = WithCommonFlags({kDataDirFlag});
constexpr auto kTokenListFlags =
    WithCommonFlags({kDataDirFlag, {"--principal", "PRINCIPAL", "Print only this principal's tokens."}});
constexpr auto kLoginFlags = WithCommonFlags(
    {{"--ca-file", "FILE", "Certificate to trust there. Default: the system's, or the local server's own."},
     Required({"--token-file", "FILE", "File with the token; - reads it from stdin."})});

const Command kCommands[] = {
    {.spec = {.path = "auth list",
              .summary = "List the servers that this account has logged in to.",
              .flags = kCommonFlags,
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
              .flags = kCommonFlags,
              .examples = "auth logout"},
     .run = LogOut},
    {.spec = {.path = "auth print-access-token",
              .summary = "Print the token that commands send.",
              .flags = kDataFlags,
              .examples = "auth print-access-token"},
     .run = PrintAccessToken},
    {.spec = {.path = "auth revoke",
              .summary = "Revoke the token of a login, and forget the login.",
              .flags = kCommonFlags,
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
