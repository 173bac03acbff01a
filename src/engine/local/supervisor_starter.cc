#include "engine/local/supervisor_starter.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <utility>

#include "async/file.h"
#include "process/variables.h"

namespace trainyard::engine {

namespace {

/// Source: systemd.exec(5), "Environment variables in spawned processes".
constexpr std::array kServiceVariables = {"NOTIFY_SOCKET",
                                          "WATCHDOG_PID",
                                          "WATCHDOG_USEC",
                                          "LISTEN_PID",
                                          "LISTEN_FDS",
                                          "LISTEN_FDNAMES",
                                          "MAINPID",
                                          "INVOCATION_ID",
                                          "JOURNAL_STREAM",
                                          "SYSTEMD_EXEC_PID",
                                          "FDSTORE",
                                          "MANAGERPID",
                                          "CREDENTIALS_DIRECTORY",
                                          "RUNTIME_DIRECTORY",
                                          "STATE_DIRECTORY",
                                          "CACHE_DIRECTORY",
                                          "LOGS_DIRECTORY",
                                          "CONFIGURATION_DIRECTORY",
                                          "MEMORY_PRESSURE_WATCH",
                                          "MEMORY_PRESSURE_WRITE"};

}  // namespace

Result<SupervisorStreams> OpenStreams(const SupervisorStart& start) {
  SupervisorStreams streams;
  TY_TRY(streams.log, OpenFile(start.dir.SupervisorLog(), O_WRONLY | O_CREAT | O_APPEND, 0600));
  streams.descriptors = {{streams.log.get(), STDOUT_FILENO},
                         {streams.log.get(), STDERR_FILENO},
                         {start.lock, replica::kInheritedLockFd}};
  if (start.secrets >= 0) streams.descriptors.emplace_back(start.secrets, STDIN_FILENO);
  return streams;
}

std::vector<std::string> SupervisorVariables() {
  VariableChanges without;
  for (const char* name : kServiceVariables) without[name] = std::nullopt;
  return OwnVariables(without);
}

}  // namespace trainyard::engine
