#include "engine/kubernetes/exec_plugin.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/async/unique_fd.h"
#include "base/process/child_process.h"
#include "base/process/variables.h"
#include "base/text/base64.h"

namespace trainyard::engine {

namespace {

using kubernetes::Access;
using kubernetes::ExecCredential;
using kubernetes::ExecPlugin;

constexpr std::size_t kPluginPrintedMax = std::size_t{1} << 20;

Result<UniqueFd> OpenPluginOutput() {
  UniqueFd memory(::memfd_create("trainyard-exec-plugin", MFD_CLOEXEC));
  if (!memory) return std::unexpected(ErrnoError(errno, "memfd_create"));
  return memory;
}

Result<std::string> ReadPluginOutput(int memory) {
  const off_t size = std::clamp<off_t>(::lseek(memory, 0, SEEK_END), 0, kPluginPrintedMax);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  const ssize_t got = ::pread(memory, bytes.data(), bytes.size(), 0);
  if (got < 0) return std::unexpected(ErrnoError(errno, "read"));
  bytes.resize(static_cast<std::size_t>(got));
  return bytes;
}

std::string LastLineOfPlugin(std::string_view text) {
  text = TrimSpace(text);
  return std::string(TrimSpace(text.substr(text.rfind('\n') + 1)));
}

/// The value of KUBERNETES_EXEC_INFO.
std::string ExecInfo(const Access& access, const std::string& authority) {
  boost::json::object spec{{"interactive", false}};
  if (access.plugin->wants_cluster) {
    boost::json::object cluster{{"server", access.server}};
    if (!access.tls_server_name.empty()) cluster["tls-server-name"] = access.tls_server_name;
    if (!authority.empty()) cluster["certificate-authority-data"] = text::Base64(authority);
    if (!access.proxy.empty()) cluster["proxy-url"] = access.proxy;
    spec["cluster"] = std::move(cluster);
  }
  return boost::json::serialize(boost::json::object{
      {"kind", "ExecCredential"}, {"apiVersion", access.plugin->api_version}, {"spec", std::move(spec)}});
}

Result<ExecCredential> RunPlugin(const ExecPlugin& plugin, const std::string& info,
                                 const PluginSurroundings& surroundings) {
  TY_TRY(const UniqueFd out, OpenPluginOutput());
  TY_TRY(const UniqueFd err, OpenPluginOutput());
  const std::map<std::string, std::string> own =
      surroundings.variables.empty() ? ReadVariables() : surroundings.variables;
  VariableChanges variables(own.begin(), own.end());
  for (const auto& [name, value] : plugin.variables) variables[name] = value;
  variables["KUBERNETES_EXEC_INFO"] = info;
  std::vector<std::string> argv{plugin.command};
  argv.insert(argv.end(), plugin.arguments.begin(), plugin.arguments.end());
  TY_TRY(ChildProcess program, ChildProcess::Spawn({.argv = std::move(argv),
                                                    .environment = PrintVariables(variables),
                                                    .directory = "/",
                                                    .descriptors = {{out.get(), 1}, {err.get(), 2}},
                                                    .group = ProcessGroup::kNew}));
  TY_TRY(const ExitStatus status, program.WaitFor(surroundings.wait_max));
  TY_TRY(const std::string said, ReadPluginOutput(err.get()));
  if (status.signal != 0)
    return std::unexpected(FailedPrecondition("it was ended by signal " + std::to_string(status.signal)));
  if (status.code != 0) {
    const std::string line = LastLineOfPlugin(said);
    return std::unexpected(FailedPrecondition("it failed with exit code " + std::to_string(status.code) +
                                              (line.empty() ? "" : ": " + line)));
  }
  TY_TRY(const std::string printed, ReadPluginOutput(out.get()));
  return kubernetes::ParseExecCredential(printed);
}

}  // namespace

Result<ExecCredential> RunExecPlugin(const Access& access, const std::string& authority,
                                     const PluginSurroundings& surroundings) {
  const ExecPlugin& plugin = *access.plugin;
  Result<ExecCredential> credential = RunPlugin(plugin, ExecInfo(access, authority), surroundings);
  if (credential) return credential;
  Error error = std::move(credential).error();
  if (error.code == Code::kDeadlineExceeded)
    error.message = "it did not end within " + std::to_string(surroundings.wait_max.count() / 1'000) + " s";
  error.message = "the kubeconfig's program " + plugin.command + ": " + error.message;
  if (error.code == Code::kNotFound && !plugin.install_hint.empty())
    error.message += ": " + std::string(TrimSpace(plugin.install_hint));
  return std::unexpected(std::move(error));
}

}  // namespace trainyard::engine
