#include "cli/clients/client_login.h"

#include <filesystem>
#include <utility>

#include "async/file.h"
#include "cli/auth/access_token.h"
#include "cli/auth/kept_logins.h"
#include "cli/gcloud/json_value.h"

namespace trainyard::cli {
namespace {

constexpr mode_t kOwnersFile = 0600;

Status WriteIfOther(const SettingSources& sources, const std::string& path, const std::string& text) {
  if (sources.read_file(path) == text) return {};
  return WriteFileAtomically(path, text, kOwnersFile);
}

/// The universe is the server's own where it has names with TLS, as the variables say it.
std::string ExternalAccount(const FoundServer& found, const std::string& token_file) {
  Json json = JsonObject();
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, std::string>>{
           {"type", "external_account"},
           {"audience", "//iam.googleapis.com/trainyard"},
           {"subject_token_type", "urn:ietf:params:oauth:token-type:jwt"},
           {"token_url", found.url + "/v1/token"},
           {"token_info_url", found.url + "/v1/introspect"},
           {"credential_source.file", token_file}})
    SetMember(json, name, JsonString(value));
  if (!found.tls_url.empty())
    SetMember(json, "universe_domain",
              JsonString("localhost" + found.tls_url.substr(found.tls_url.rfind(':'))));
  return PrintIndented(json) + "\n";
}

}  // namespace

Result<ClientLogin> MakeClientLogin(const FoundServer& found, const Arguments& arguments,
                                    const SettingSources& sources) {
  if (!found.note || !found.note->auth) return ClientLogin{};
  TY_TRY(const FoundToken token, FindToken(arguments, sources, found.data_dir, found.url));
  if (token.text.empty()) {
    return std::unexpected(
        FailedPrecondition("The server at " + found.url +
                           " asks who its callers are, and there is no token for it. Log in: "
                           "trainyard auth login --server " +
                           found.url + " --token-file FILE"));
  }
  const std::filesystem::path folder = std::filesystem::path(LoginsPath(sources)).parent_path();
  TY_RETURN_IF_ERROR(MakePrivateFolder(folder));
  ClientLogin login{.token_file = folder / "client-token", .account_file = folder / "client-account.json"};
  TY_RETURN_IF_ERROR(
      WriteIfOther(sources, login.token_file, token.text));  // to the byte: clients send all of it
  TY_RETURN_IF_ERROR(WriteIfOther(sources, login.account_file, ExternalAccount(found, login.token_file)));
  return login;
}

}  // namespace trainyard::cli
