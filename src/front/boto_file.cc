#include "front/boto_file.h"

namespace trainyard::front {

std::string BotoFile(const BotoSettings& settings) {
  std::string text;
  const auto line = [&text](const char* name, const std::string& value) {
    text.append(name).append(" = ").append(value).append("\n");
  };
  if (!settings.host.empty()) {
    text += "[Credentials]\n";
    for (const char* api : {"gs_host", "gs_json_host"}) line(api, settings.host);
    for (const char* api : {"gs_port", "gs_json_port"}) line(api, settings.port);
    text += "\n";
  }
  text += "[Boto]\n";
  line("ca_certificates_file", settings.ca_bundle);
  line("https_validate_certificates", "True");
  text += "\n[GoogleCompute]\n";
  line("service_account", "default");
  text += "\n[GSUtil]\n";
  line("default_project_id", settings.project);
  if (!settings.state_dir.empty()) line("state_dir", settings.state_dir);
  line("software_update_check_period", "0");
  return text;
}

}  // namespace trainyard::front
