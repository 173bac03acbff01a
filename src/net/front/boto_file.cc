#include "net/front/boto_file.h"

namespace trainyard::front {
namespace {

constexpr const char* kAnyClient = "trainyard";  // gsutil requires one, the server ignores it

}  // namespace

std::string BotoFile(const BotoSettings& settings) {
  std::string text;
  const auto line = [&text](const char* name, const std::string& value) {
    text.append(name).append(" = ").append(value).append("\n");
  };
  if (!settings.host.empty() || !settings.token.empty()) text += "[Credentials]\n";
  if (!settings.token.empty()) line("gs_oauth2_refresh_token", settings.token);
  if (!settings.host.empty()) {
    for (const char* api : {"gs_host", "gs_json_host"}) line(api, settings.host);
    for (const char* api : {"gs_port", "gs_json_port"}) line(api, settings.port);
  }
  text += text.empty() ? "[Boto]\n" : "\n[Boto]\n";
  line("ca_certificates_file", settings.ca_bundle);
  line("https_validate_certificates", "True");
  if (settings.token.empty()) {
    text += "\n[GoogleCompute]\n";
    line("service_account", "default");
  } else {
    text += "\n[OAuth2]\n";
    line("provider_token_uri", settings.token_uri);
    for (const char* client : {"client_id", "client_secret"}) line(client, kAnyClient);
  }
  text += "\n[GSUtil]\n";
  line("default_project_id", settings.project);
  if (!settings.state_dir.empty()) line("state_dir", settings.state_dir);
  line("software_update_check_period", "0");
  return text;
}

}  // namespace trainyard::front
