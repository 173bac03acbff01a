#include "cli/clients/client_login.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/async/file.h"
#include "cli/auth/access_token.h"
#include "cli/auth/kept_logins.h"
#include "cli/clients/client_environment.h"
#include "cli/gcloud/json_value.h"
#include "net/front/boto_file.h"

namespace trainyard::cli {
namespace {

constexpr mode_t kOwnersFile = 0600;

Status WriteIfOther(const SettingSources& sources, const std::string& path, const std::string& text) {
  if (sources.read_file(path) == text) return {};
  return WriteFileAtomically(path, text, kOwnersFile);
}

/// One for each server: shells with the settings of two would send the one's token to the other.
std::filesystem::path FolderOf(const std::string& server, const SettingSources& sources) {
  std::string name = server;
  const auto is_plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-';
  };
  std::ranges::replace_if(name, [&](char c) { return !is_plain(c); }, '_');
  return std::filesystem::path(LoginsPath(sources)).parent_path() / "clients" / name;
}

/// The universe is the server's own where it has names with TLS, as the variables say it.
std::string ExternalAccount(const FoundServer& found, const std::string& token_file, Universe universe) {
  Json json = JsonObject();
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, std::string>>{
           {"type", "external_account"},
           {"audience", "//iam.googleapis.com/trainyard"},
           {"subject_token_type", "urn:ietf:params:oauth:token-type:jwt"},
           {"token_url", found.url + "/v1/token"},
           {"token_info_url", found.url + "/v1/introspect"},
           {"credential_source.file", token_file}})
    SetMember(json, name, JsonString(value));
  if (universe == Universe::kServers && !OwnUniverse(found.url, found.tls_url).empty())
    SetMember(json, "universe_domain", JsonString(OwnUniverse(found.url, found.tls_url)));
  return PrintIndented(json) + "\n";
}

std::string WhereToGetOne(const FoundServer& found) {
  return "The server at " + found.url +
         " asks who its callers are, and there is no token for it. Log in: trainyard auth login --server " +
         found.url + " --token-file FILE";
}

}  // namespace

Result<ClientLogin> MakeClientLogin(const FoundServer& found, const Arguments& arguments,
                                    const SettingSources& sources, Universe universe) {
  if (!found.asks_who) return ClientLogin{};
  TY_TRY(FoundToken token, FindToken(arguments, BeforeSettings(sources), found.data_dir, found.url));
  if (token.text.empty()) return std::unexpected(FailedPrecondition(WhereToGetOne(found)));
  const std::filesystem::path folder = FolderOf(found.url, sources);
  TY_RETURN_IF_ERROR(MakePrivateFolder(folder.parent_path().parent_path()));
  TY_RETURN_IF_ERROR(MakePrivateFolder(folder.parent_path()));
  TY_RETURN_IF_ERROR(MakePrivateFolder(folder));
  const char* account = universe == Universe::kGoogles ? "with-account.json" : "account.json";
  ClientLogin login{.token_file = folder / "token",
                    .account_file = folder / account,
                    .token = std::move(token.text),
                    .folder = folder};
  // To the byte: clients send all of it.
  TY_RETURN_IF_ERROR(WriteIfOther(sources, login.token_file, login.token));
  TY_RETURN_IF_ERROR(
      WriteIfOther(sources, login.account_file, ExternalAccount(found, login.token_file, universe)));
  return login;
}

Result<std::string> WriteLoginBoto(const FoundServer& found, const ClientLogin& login, const ClientBoto& boto,
                                   const SettingSources& sources) {
  const std::string text = front::BotoFile({.ca_bundle = boto.ca_file,
                                            .project = boto.project,
                                            .host = boto.host,
                                            .port = boto.port,
                                            .token = login.token,
                                            .token_uri = found.url + "/token"});
  std::string path = login.folder + (boto.host.empty() ? "/with-boto.cfg" : "/boto.cfg");
  TY_RETURN_IF_ERROR(WriteIfOther(sources, path, text));
  return path;
}

}  // namespace trainyard::cli
