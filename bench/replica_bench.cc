// The supervisor's costs: from its start to the user's first instruction (beside a bare posix_spawn of the
// same program), its resident memory, and how many lines per second it takes from a pipe to being
// acknowledged.
//
//     replica_bench PROGRAM [ATTEMPTS]      PROGRAM: replica_bench_program, as "python"
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "async/file.h"
#include "base/check.h"
#include "replica/attempt_dir.h"
#include "replica/main.h"
#include "replica/program_source.h"
#include "replica/testing/fake_server.h"
#include "replica/testing/temporary_folder.h"

namespace trainyard::replica {
namespace {

namespace fs = std::filesystem;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr int kLines = 1'000'000;

std::int64_t Now() {
  return std::chrono::duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

std::int64_t StartedAt(std::string_view line) {
  std::int64_t at = 0;
  if (line.starts_with("started ")) std::from_chars(line.data() + 8, line.data() + line.size(), at);
  return at;
}

pid_t Spawn(const std::vector<std::string>& words, int output) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output >= 0) posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  pid_t pid = -1;
  TY_CHECK(posix_spawn(&pid, words.front().c_str(), &actions, nullptr, argv.data(), environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

/// One attempt of its own folder, driven to its end.
class Attempt {
 public:
  Attempt(const std::string& root, int number, std::vector<std::string> args)
      : dir_{root + "/attempts/" + std::to_string(number)}, server_(root + "/server.sock", memory_) {
    fs::create_directories(dir_.path);
    v1::Manifest manifest;
    manifest.set_attempt_id("bench" + std::to_string(getpid()) + "-" + std::to_string(number));
    manifest.mutable_replica()->set_type(v1::MASTER);
    manifest.mutable_program()->set_runtime_version("rt");
    manifest.mutable_program()->set_python_module("m");
    for (std::string& arg : args) manifest.mutable_program()->add_args(std::move(arg));
    manifest.mutable_places()->set_attempt_dir(dir_.path);
    manifest.mutable_places()->set_environments_dir(root + "/environments");
    manifest.mutable_places()->set_server_socket(root + "/server.sock");
    manifest.set_address("127.88.0.1");
    manifest.set_host_name("bench");
    *endpoint_.mutable_replica() = manifest.replica();
    endpoint_.set_address(manifest.address());
    endpoint_.set_host_name(manifest.host_name());
    TY_CHECK(WriteManifest(dir_, manifest).has_value());
    began_ = Now();
    supervisor_ = Spawn({"/proc/self/exe", "replica", dir_.path}, -1);
  }

  void OpenBarrier() {
    TY_CHECK(server_.WaitFor([](const auto& memory) {
      return std::ranges::any_of(
          memory.frames, [](const auto& frame) { return frame.phase_changed().phase() == v1::READY; });
    }));
    v1::ToReplica frame;
    *frame.mutable_cluster()->add_endpoints() = endpoint_;
    server_.Send(frame);
  }

  /// Nanoseconds from the supervisor's start to the program's first instruction.
  std::int64_t FirstInstruction() {
    std::int64_t started = 0;
    TY_CHECK(server_.WaitFor([&started](const auto& memory) {
      for (const auto& line : memory.lines) started = std::max(started, StartedAt(line.text()));
      return started != 0;
    }));
    return started - began_;
  }

  std::string Resident() {
    const std::string status = ReadFile("/proc/" + std::to_string(supervisor_) + "/status").value_or("");
    std::string shown;
    for (const char* key : {"VmRSS:", "RssAnon:", "RssFile:"}) {
      const std::size_t at = status.find(key);
      shown += status.substr(at, status.find('\n', at) - at) + "  ";
    }
    return shown;
  }

  void Stop() {
    v1::ToReplica frame;
    frame.mutable_stop()->set_kill(true);
    server_.Send(frame);
  }

  void Finish() {
    TY_CHECK(server_.WaitFor([](const auto& memory) {
      return std::ranges::any_of(memory.frames, [](const auto& frame) { return frame.has_exit(); });
    }));
    v1::ToReplica frame;
    frame.mutable_dismiss();
    server_.Send(frame);
    waitpid(supervisor_, nullptr, 0);
  }

 private:
  AttemptDir dir_;
  std::shared_ptr<FakeServer::Memory> memory_ = std::make_shared<FakeServer::Memory>();
  FakeServer server_;
  v1::Endpoint endpoint_;
  std::int64_t began_ = 0;
  pid_t supervisor_ = -1;
};

std::int64_t BareSpawn(const std::string& program) {
  std::array<int, 2> pipe{};
  TY_CHECK(pipe2(pipe.data(), O_CLOEXEC) == 0);
  const std::int64_t began = Now();
  const pid_t pid = Spawn({program}, pipe[1]);
  waitpid(pid, nullptr, 0);
  std::array<char, 64> text{};
  const ssize_t size = read(pipe[0], text.data(), text.size());
  close(pipe[0]);
  close(pipe[1]);
  TY_CHECK(size > 0);
  return StartedAt({text.data(), static_cast<std::size_t>(size)}) - began;
}

void Print(const char* what, std::vector<std::int64_t> times) {
  std::ranges::sort(times);
  const auto at = [&times](double part) {
    return static_cast<double>(
               times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))]) /
           1e6;
  };
  std::printf("%-46s median %6.2f ms   p99 %6.2f ms\n", what, at(0.5), at(0.99));
}

int Run(const std::string& program, int attempts) {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() + "/environments");
  fs::copy_file(program, folder.path() + "/environments/python");
  std::vector<std::int64_t> bare;
  std::vector<std::int64_t> supervised;
  int number = 0;
  for (int i = 0; i < attempts; ++i) {
    bare.push_back(BareSpawn(program));
    Attempt attempt(folder.path(), ++number, {});
    attempt.OpenBarrier();
    supervised.push_back(attempt.FirstInstruction());
    attempt.Finish();
  }
  Print("bare posix_spawn to first instruction", bare);
  Print("supervisor's start to first user instruction", supervised);

  Attempt waiting(folder.path(), ++number, {"wait"});
  waiting.OpenBarrier();
  (void)waiting.FirstInstruction();
  std::printf("supervisor, resident: %s\n", waiting.Resident().c_str());
  waiting.Stop();
  waiting.Finish();

  Attempt talking(folder.path(), ++number, {"lines", std::to_string(kLines)});
  talking.OpenBarrier();
  const std::int64_t began = Now();
  talking.Finish();
  std::printf("lines from the pipe to acknowledged: %.0f per second\n",
              kLines / (static_cast<double>(Now() - began) / 1e9));
  return 0;
}

/// Every runtime version is the program of the benchmark.
class BenchPrograms final : public ProgramSource {
 public:
  std::optional<Prepared> Find(const v1::Manifest& manifest) override {
    return environment::Environment{.python = manifest.places().environments_dir() + "/python"};
  }
  Status Prepare(const v1::Manifest&, const PreparationHooks&) override { return {}; }
};

}  // namespace
}  // namespace trainyard::replica

int main(int argc, char** argv) {
  using namespace trainyard;
  if (argc > 1 && std::string_view(argv[1]) == "replica") {
    replica::BenchPrograms source;
    return replica::RunReplica(argc - 1, argv + 1, source);
  }
  if (argc < 2) {
    std::fputs("usage: replica_bench PROGRAM [ATTEMPTS]\n", stderr);
    return 2;
  }
  return replica::Run(argv[1], argc > 2 ? std::atoi(argv[2]) : 200);
}
