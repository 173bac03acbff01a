#include "programs/runtimes/user_environment.h"

namespace trainyard::replica {

namespace {

constexpr const char* kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

}  // namespace

std::vector<std::string> UserEnvironment(const VariableSources& sources) {
  Variables all = {{"LANG", "C.UTF-8"}, {"PYTHONUNBUFFERED", "1"}};
  for (const Variables* source : {&sources.base, &sources.devices, &sources.cluster, &sources.environment}) {
    for (const auto& [name, value] : *source) all[name] = value;
  }
  const auto front = sources.environment.find("PATH");
  all["PATH"] =
      front == sources.environment.end() || front->second.empty() ? kPath : front->second + ":" + kPath;
  for (const Variables* source : {&sources.manifest, &sources.channels}) {
    for (const auto& [name, value] : *source) all[name] = value;
  }
  std::vector<std::string> variables;
  for (const auto& [name, value] : all) variables.push_back(name + "=" + value);
  return variables;
}

}  // namespace trainyard::replica
