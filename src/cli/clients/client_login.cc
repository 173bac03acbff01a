#include "cli/clients/client_login.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/async/file.h"
#include "base/tls/certificate.h"
#include "cli/auth/access_token.h"
#include "cli/auth/logins.h"
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

/// Made once: making one takes a tenth of a second.
Result<std::string> Key(const RunningServer& found, const SettingSources& sources) {
  const std::string path = found.data_dir + "/run/client-key.pem";
  if (std::optional<std::string> kept = sources.read_file(path); kept && tls::ParsePrivateKey(*kept))
    return *std::move(kept);
  TY_TRY(const tls::PrivateKey key, tls::MakeSigningKey());
  TY_TRY(std::string text, tls::PrintPrivateKey(key));
  TY_RETURN_IF_ERROR(WriteFileAtomically(path, text, kOwnersFile));
  return text;
}

std::string UniverseOf(const RunningServer& found, Universe universe) {
  if (universe == Universe::kGoogles) return "googleapis.com";
  return "localhost" + found.tls_url.substr(found.tls_url.rfind(':'));
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
std::string ExternalAccount(const RunningServer& found, const std::string& token_file, Universe universe) {
  Json json = JsonObject({{"type", JsonString("external_account")},
                          {"audience", JsonString("//iam.googleapis.com/trainyard")},
                          {"subject_token_type", JsonString("urn:ietf:params:oauth:token-type:jwt")},
                          {"token_url", JsonString(found.url + "/v1/token")},
                          {"token_info_url", JsonString(found.url + "/v1/introspect")}});
  SetMember(json, "credential_source.file", JsonString(token_file));
  if (universe == Universe::kServers && !OwnUniverse(found.url, found.tls_url).empty())
    SetMember(json, "universe_domain", JsonString(OwnUniverse(found.url, found.tls_url)));
  return PrintIndented(json) + "\n";
}

std::string WhereToGetOne(const RunningServer& found) {
  return "The server at " + found.url +
         " requires a login, and there is no token for it. Log in: trainyard auth login --server " +
         found.url + " --token-file FILE";
}

}  // namespace

std::optional<std::string> DefaultCredentialsFile(const SettingSources& sources) {
  std::string path = GcloudFolder(sources) + "/application_default_credentials.json";
  if (!sources.read_file(path)) return std::nullopt;
  return path;
}

Result<std::string> StandInCredentials(const RunningServer& found, const SettingSources& sources,
                                       Universe universe) {
  if (!DefaultCredentialsFile(sources)) return std::string();
  TY_TRY(const std::string key, Key(found, sources));
  Json json = JsonObject({{"type", JsonString("service_account")},
                          {"project_id", JsonString(found.project)},
                          {"private_key_id", JsonString("trainyard")},
                          {"private_key", JsonString(key)},
                          {"client_email", JsonString("trainyard@localhost")},
                          {"client_id", JsonString("0")},
                          {"auth_uri", JsonString("https://accounts.google.com/o/oauth2/auth")},
                          {"token_uri", JsonString("https://oauth2.googleapis.com/token")}});
  SetMember(json, "universe_domain", JsonString(UniverseOf(found, universe)));
  const std::string text = PrintIndented(json) + "\n";
  std::string path = found.data_dir + (universe == Universe::kGoogles ? "/run/with-credentials.json"
                                                                      : "/run/client-credentials.json");
  TY_RETURN_IF_ERROR(WriteIfOther(sources, path, text));
  return path;
}

Result<ClientLogin> MakeClientLogin(const RunningServer& found, const Arguments& arguments,
                                    const SettingSources& sources, Universe universe) {
  if (!found.asks_who) return ClientLogin{};
  TY_TRY(ClientToken token, FindToken(arguments, BeforeSettings(sources), found.data_dir, found.url));
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

Result<std::string> WriteLoginBoto(const RunningServer& found, const ClientLogin& login,
                                   const ClientBoto& boto, const SettingSources& sources) {
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
