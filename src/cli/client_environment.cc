#include "cli/client_environment.h"

#include <memory>
#include <utility>

#include "async/file.h"
#include "cli/command_session.h"

namespace trainyard::cli {
namespace {

std::string WithoutScheme(const std::string& url) {
  std::size_t scheme = url.find("://");
  return scheme == std::string::npos ? url : url.substr(scheme + 3);
}

std::string Port(const std::string& url) {
  std::string authority = WithoutScheme(url);
  std::size_t colon = authority.rfind(':');
  return colon == std::string::npos ? "443" : authority.substr(colon + 1);
}

/// Asks the server's metadata server for a value; empty if it has none.
std::string AskMetadata(ApiClient& client, const std::string& path) {
  ApiRequest request{.method = ApiRequest::Method::kGet,
                     .path = "/computeMetadata/v1/" + path,
                     .headers = {{"Metadata-Flavor", "Google"}}};
  Result<ApiResponse> answer = client.Send(request);
  return answer && answer->status == 200 ? answer->body : std::string();
}

/// Writes the certificates that the user's programs trust already together with the server's, because the
/// variables below replace a program's own list.
std::string WriteBundle(const SettingSources& sources, const std::string& ca_file) {
  std::string bundle = ca_file.substr(0, ca_file.rfind('/') + 1) + "bundle.pem";
  std::optional<std::string> ours = sources.read_file(ca_file);
  if (!ours) return ca_file;
  std::optional<std::string> trusted;
  std::optional<std::string> named = sources.variable("REQUESTS_CA_BUNDLE");
  if (named && *named != bundle && *named != ca_file) trusted = sources.read_file(*named);
  for (const char* path : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"})
    if (!trusted) trusted = sources.read_file(path);
  std::string text = trusted.value_or("") + *ours;
  if (sources.read_file(bundle) == text) return bundle;
  return WriteFileAtomically(bundle, text) ? bundle : ca_file;
}

/// Whether *.localhost resolves without the network.
bool ResolvesLocalhostNames(const SettingSources& sources) {
  std::string hosts = sources.read_file("/etc/hosts").value_or("");
  std::string name_services = sources.read_file("/etc/nsswitch.conf").value_or("");
  return hosts.find("ml.localhost") != std::string::npos ||
         name_services.find("myhostname") != std::string::npos ||
         name_services.find("resolve [") != std::string::npos;
}

struct FoundServer {
  ClientEnvironment environment;
  std::string where;
};

Result<FoundServer> FindRunningServer(const Arguments& arguments, const SettingSources& sources) {
  std::string data_dir = arguments.Value("--data").value_or(DefaultDataDir(sources));
  std::optional<ServerNote> note = ReadServerNote(sources, data_dir);
  ClientSetting server = FindServer(sources, arguments.Value("--server"));
  if (arguments.Has("--data") && !arguments.Has("--server")) {
    if (!note)
      return std::unexpected(NotFound("No server has run with the data directory " + data_dir +
                                      ". Start one: trainyard serve --data " + data_dir));
    server = {note->url, data_dir + "/run/server.json"};
  }
  while (server.value.ends_with('/')) server.value.pop_back();
  if (!server.value.starts_with("http://"))
    return std::unexpected(InvalidArgument(
        "", "The settings need the server's address without TLS, http://HOST:PORT; received [" +
                server.value + "]."));
  bool noted = note && note->url == server.value;
  TY_TRY(std::unique_ptr<ApiClient> client, MakeApiClient({.url = server.value}));
  ApiRequest health{.method = ApiRequest::Method::kGet, .path = "/healthz"};
  TY_TRY(ApiResponse answer, client->Send(health));
  if (answer.status == 403)  // the answer says which accounts are allowed
    return std::unexpected(
        FailedPrecondition("The server at " + server.value + " refuses: " + ErrorText(answer)));
  if (answer.status != 200)
    return std::unexpected(FailedPrecondition("The server at " + server.value +
                                              " is not a Trainyard server (HTTP " +
                                              std::to_string(answer.status) + " to /healthz)."));
  FoundServer found{.environment = {.url = server.value}, .where = server.source};
  std::string universe = AskMetadata(*client, "universe/universe-domain");
  if (noted && !note->tls_url.empty())
    found.environment.tls_url = note->tls_url;
  else if (!universe.empty())
    found.environment.tls_url = "https://" + universe;
  if (noted) found.environment.ca_file = note->ca_file;
  found.environment.project = noted ? note->project : AskMetadata(*client, "project/project-id");
  return found;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> ClientVariables(const ClientEnvironment& environment) {
  const std::string& url = environment.url;
  std::string authority = WithoutScheme(url);
  std::vector<std::pair<std::string, std::string>> variables{
      {"TRAINYARD_SERVER", url},
      {"CLOUDSDK_API_ENDPOINT_OVERRIDES_ML", url + "/"},
      {"CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE", url + "/storage/v1/"},
      {"CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING", url + "/"},
      {"CLOUDSDK_AUTH_DISABLE_CREDENTIALS", "true"},
      {"CLOUDSDK_CORE_PROJECT", environment.project},
      {"CLOUDSDK_ML_ENGINE_POLLING_INTERVAL", "1"},
      {"GOOGLE_CLOUD_PROJECT", environment.project},
      {"GCE_METADATA_HOST", authority},
      {"GCE_METADATA_IP", authority},
      {"STORAGE_EMULATOR_HOST", url},
  };
  // Without the certificate every https request would fail.
  if (environment.tls_url.empty() || environment.ca_file.empty()) return variables;
  variables.emplace_back("GOOGLE_CLOUD_UNIVERSE_DOMAIN", "localhost:" + Port(environment.tls_url));
  variables.emplace_back("HTTPLIB2_CA_CERTS", environment.ca_file);
  variables.emplace_back("REQUESTS_CA_BUNDLE", environment.ca_file);
  variables.emplace_back("NODE_EXTRA_CA_CERTS", environment.ca_file);
  return variables;
}

std::string PrintExports(const std::vector<std::pair<std::string, std::string>>& variables) {
  std::string out;
  for (const auto& [name, value] : variables) {
    out += "export " + name + "='";
    for (char c : value) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    out += "'\n";
  }
  return out;
}

ExitStatus PrintClientEnvironment(const Arguments& arguments, const SettingSources& sources,
                                  const Console& console) {
  if (std::string shell = arguments.Value("--shell").value_or("sh"); shell != "sh")
    return std::unexpected(InvalidArgument(
        "", "--shell must be sh (bash, zsh and dash read it, too); received [" + shell + "]."));
  TY_TRY(FoundServer found, FindRunningServer(arguments, sources));
  ClientSetting project =
      FindProject(sources, arguments.Value("--project"), arguments.Value("--configuration"));
  if (project.source == "default" && !found.environment.project.empty())
    project = {found.environment.project, "the server"};
  found.environment.project = project.value;
  if (!found.environment.ca_file.empty())
    found.environment.ca_file = WriteBundle(sources, found.environment.ca_file);
  console.Out("# Server " + found.environment.url + " (from: " + found.where + "), project " + project.value +
              " (from: " + project.source + ").\n" + PrintExports(ClientVariables(found.environment)));
  if (found.environment.ca_file.empty())
    console.Warn(
        "the server's certificate is not in this machine's data directory: discovery.build('ml', 'v1') "
        "without arguments will not work; all other clients will");
  else if (!ResolvesLocalhostNames(sources))
    console.Warn(
        "ml.localhost may not resolve on this machine; for discovery.build('ml', 'v1') without arguments add "
        "this line to /etc/hosts: 127.0.0.1 ml.localhost storage.localhost");
  return 0;
}

}  // namespace trainyard::cli
