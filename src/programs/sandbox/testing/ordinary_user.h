#pragma once

#include <grp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/async/file.h"
#include "base/async/testing/temporary_folder.h"

namespace trainyard::replica {

/// Runs tests of this program again as a user without privileges and subordinate ids (nobody), which only
/// root can do. Returns whether all of them passed; a skipped test counts as failed.
[[nodiscard]] inline bool PassAsOrdinaryUser(const std::string& filter) {
  constexpr uid_t kNobody = 65534;
  const TemporaryFolder folder;  // accessible to nobody, unlike the build's directory
  const std::string copy = folder.path() + "/tests";
  const std::string report = folder.path() + "/report";
  std::filesystem::copy_file("/proc/self/exe", copy);
  if (chmod(copy.c_str(), 0755) != 0 || chown(folder.path().c_str(), kNobody, kNobody) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    if (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0 || chdir("/") != 0)
      _exit(1);
    execl(copy.c_str(), copy.c_str(), ("--gtest_filter=" + filter).c_str(),
          ("--gtest_output=json:" + report).c_str(), nullptr);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const std::string said = ReadFile(report).value_or("");
  return status == 0 && said.find("\"COMPLETED\"") != std::string::npos &&
         said.find("\"SKIPPED\"") == std::string::npos;
}

/// Calls the function in a process of that user and returns its result.
template <class Function>
[[nodiscard]] bool AskAsOrdinaryUser(const Function& function) {
  constexpr uid_t kNobody = 65534;
  const pid_t child = fork();
  if (child == 0) {
    const bool became = setgid(kNobody) == 0 && setuid(kNobody) == 0;
    prctl(PR_SET_DUMPABLE, 1);  // as after an exec: it owns its files in /proc
    _exit(became && function() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0;
}

}  // namespace trainyard::replica
