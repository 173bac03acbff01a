#include "programs/runtimes/inside/pod_exec.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace trainyard::replica::pod {

namespace {

constexpr int kNotRun = 127;
constexpr const char* kDefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

[[noreturn]] void Report(int report, int error, Step step, const char* file = nullptr) {
  char bytes[kReportMax];
  StarterEvent event{Kind::kFailed, error, static_cast<int32_t>(step), 0};
  const int content = file != nullptr ? open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
  if (content >= 0) {
    const ssize_t size = read(content, bytes + sizeof(event), kBeginningMax);
    event.size = size > 0 ? static_cast<uint32_t>(size) : 0;
  }
  memcpy(bytes, &event, sizeof(event));
  const size_t all = sizeof(event) + event.size;
  for (size_t written = 0; written < all;) {
    const ssize_t size = write(report, bytes + written, all - written);
    if (size <= 0) break;
    written += static_cast<size_t>(size);
  }
  _exit(kNotRun);
}

/// `error`: that of execve(2), whose ENOENT and EACCES have several meanings.
[[noreturn]] void ReportProgram(int report, int error, const char* file) {
  struct stat found;
  const bool exists = stat(file, &found) == 0;
  if (exists && S_ISDIR(found.st_mode)) Report(report, EISDIR, Step::kProgram);
  if (exists && error == ENOENT) Report(report, error, Step::kLoader, file);
  Report(report, error, Step::kProgram, error == ENOEXEC ? file : nullptr);
}

/// "FOLDER/NAME", for the first folder of `path`; false: too long.
bool Join(const char* path, const char* name, char (&joined)[PATH_MAX]) {
  const auto folder = static_cast<int>(strcspn(path, ":"));
  const int size = folder == 0 ? snprintf(joined, sizeof(joined), "./%s", name)
                               : snprintf(joined, sizeof(joined), "%.*s/%s", folder, path, name);
  return size > 0 && size < static_cast<int>(sizeof(joined));
}

/// As execvp(3), without its shell for files of an unknown format.
[[noreturn]] void Execute(char** argv, int report) {
  if (strchr(argv[0], '/') != nullptr) {
    execve(argv[0], argv, environ);
    ReportProgram(report, errno, argv[0]);
  }
  const char* path = getenv("PATH");
  if (path == nullptr) path = kDefaultPath;
  char joined[PATH_MAX];
  char found[PATH_MAX] = "";
  int error = ENOENT;
  for (;; ++path) {
    if (Join(path, argv[0], joined)) {
      execve(joined, argv, environ);
      const int reason = errno;
      const bool searches_on = reason == ENOENT || reason == ENOTDIR || reason == EACCES;
      if (!searches_on) ReportProgram(report, reason, joined);
      if (found[0] == 0 && access(joined, F_OK) == 0) {
        memcpy(found, joined, sizeof(found));
        error = reason;
      }
    }
    path += strcspn(path, ":");
    if (*path == 0) ReportProgram(report, error, found[0] != 0 ? found : argv[0]);
  }
}

/// Takes the strings of a request one by one.
struct Strings {
  char* at;
  char* end;
  /// Null: there is none.
  char* Take() {
    char* begin = at;
    auto* nul = at < end ? static_cast<char*>(memchr(at, 0, static_cast<size_t>(end - at))) : nullptr;
    if (nul == nullptr) return nullptr;
    at = nul + 1;
    return begin;
  }
};

/// False: the request is malformed.
bool SetVariables(const StartRequest& request, Strings& strings) {
  for (uint32_t i = 0; i < request.variables; ++i) {
    char* variable = strings.Take();
    if (variable == nullptr || variable[0] == '=' || strchr(variable, '=') == nullptr) return false;
    if (putenv(variable) != 0) return false;
  }
  return true;
}

/// Sets the variables and returns the arguments; null: the request is malformed.
char** TakeWords(const StartRequest& request, Strings& strings) {
  // Each string has at least its NUL.
  if (request.arguments == 0 || request.arguments > request.size) return nullptr;
  char** argv = static_cast<char**>(calloc(size_t{request.arguments} + 1, sizeof(char*)));
  if (argv == nullptr) return nullptr;
  for (uint32_t i = 0; i < request.arguments; ++i) {
    argv[i] = strings.Take();
    if (argv[i] == nullptr) return nullptr;
  }
  if (!SetVariables(request, strings)) return nullptr;
  return strings.at == strings.end && argv[0][0] != 0 ? argv : nullptr;
}

void ResetSignals() {
  struct sigaction usual = {};
  usual.sa_handler = SIG_DFL;
  for (int number = 1; number <= kSignalMax; ++number) sigaction(number, &usual, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

void SetVariablesOf(const StartRequest& request, char* bytes) {
  Strings strings{bytes, bytes + request.size};
  for (uint32_t i = 0; i < request.arguments + 1; ++i) strings.Take();  // with the directory
  SetVariables(request, strings);
}

void RunProgram(const StartRequest& request, char* bytes, const int (&descriptors)[kDescriptors],
                int report) {
  Strings strings{bytes, bytes + request.size};
  const char* directory = strings.Take();
  char** argv = directory != nullptr ? TakeWords(request, strings) : nullptr;
  if (argv == nullptr) Report(report, EBADMSG, Step::kRequest);
  setsid();
  if ((request.flags & kTerminal) != 0 && ioctl(descriptors[0], TIOCSCTTY, 0) != 0)
    Report(report, errno, Step::kTerminal);
  for (size_t i = 0; i < kDescriptors; ++i) {
    if (dup2(descriptors[i], static_cast<int>(i)) < 0) Report(report, errno, Step::kDescriptors);
  }
  if (directory[0] != 0 && chdir(directory) != 0) Report(report, errno, Step::kDirectory);
  ResetSignals();
  Execute(argv, report);  // which closes all other descriptors: they are close-on-exec
}

}  // namespace trainyard::replica::pod
