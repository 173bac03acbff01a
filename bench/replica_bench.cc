// The supervisor's costs: from its start to the user's first instruction (compared with a bare
// posix_spawn of the same program), its resident memory, and how many lines per second it takes from a pipe
// to being acknowledged.
//
//     replica_bench PROGRAM [ATTEMPTS]              PROGRAM: replica_bench_program, as "python"
//     replica_bench PROGRAM ATTEMPTS OCI_RUNTIME    the same in a container, compared with the bare runtime
//     (as root; the first also as an ordinary user)
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/file.h"
#include "base/async/testing/temporary_folder.h"
#include "base/check.h"
#include "programs/attempt/attempt_dir.h"
#include "programs/runtimes/program_source.h"
#include "replica/supervisor/run_replica.h"
#include "replica/supervisor/testing/fake_server.h"
#include "rules/container/oci_spec.h"

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

/// What an attempt runs: the program itself, or a container of it.
struct Kind {
  std::vector<std::string> args{};
  std::string runtime{};  ///< crun or runc; empty: no container
  /// With the front's files, and its connections led to other ports
  /// (docs/adr/0028-doors-without-port-443.md).
  bool doors = false;
};

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

/// One attempt in a folder of its own, run to its end.
class Attempt {
 public:
  Attempt(const std::string& root, int number, const Kind& kind)
      : dir_{root + "/attempts/" + std::to_string(number)}, server_(root + "/attach.sock", memory_) {
    fs::create_directories(dir_.path);
    v1::Manifest manifest;
    manifest.set_attempt_id("bench" + std::to_string(getpid()) + "-" + std::to_string(number));
    manifest.mutable_replica()->set_type(v1::MASTER);
    v1::Manifest::Program& program = *manifest.mutable_program();
    if (kind.runtime.empty()) {
      program.set_runtime_version("rt");
      program.set_python_module("m");
      program.mutable_args()->Assign(kind.args.begin(), kind.args.end());
    } else {
      program.mutable_container()->set_runtime_kind(v1::Manifest::OCI_RUNTIME);
      program.mutable_container()->set_runtime_address(kind.runtime);
    }
    manifest.mutable_places()->set_images_dir(root + "/images");
    manifest.mutable_places()->set_attempt_dir(dir_.path);
    manifest.mutable_places()->set_environments_dir(root + "/environments");
    manifest.mutable_places()->set_attach_socket(root + "/attach.sock");
    manifest.set_address("127.88.0.1");
    manifest.set_host_name("bench");
    if (kind.doors) {
      v1::GoogleFront& front = *manifest.mutable_google_front();
      front.set_address("127.77.2.3");
      front.set_tls_port(12'000);
      front.set_plain_port(12'001);
      front.set_ca_bundle(root + "/front/ca-bundle.pem");
      front.set_buckets_dir(root + "/buckets");
      front.add_host_names("storage.googleapis.com");
    }
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

/// The container that a bare runtime makes, in folders of the bench's own.
void WriteBundle(const std::string& bundle, const std::string& program) {
  fs::create_directories(bundle + "/rootfs");
  for (const char* folder : {"/proc", "/sys", "/dev"}) fs::create_directories(bundle + "/rootfs" + folder);
  fs::copy_file(program, bundle + "/rootfs/program");
  std::ofstream(bundle + "/config.json")
      << container::PrintSpec({.args = {"/program"}, .root = bundle + "/rootfs"});
}

/// `crun run` or `runc run` alone, from its start to the program's first instruction. In a mount namespace of
/// its own because crun refuses a machine that has both versions of cgroups.
std::int64_t BareContainer(const std::string& runtime, const std::string& bundle) {
  std::array<int, 2> pipe{};
  TY_CHECK(pipe2(pipe.data(), O_CLOEXEC) == 0);
  const bool is_crun = runtime.ends_with("crun");
  const std::int64_t began = Now();
  const pid_t pid = fork();
  if (pid == 0) {
    unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC);
    mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    if (is_crun) umount2("/sys/fs/cgroup/unified", MNT_DETACH);
    dup2(pipe[1], STDOUT_FILENO);
    const std::string id = "bench" + std::to_string(getpid());
    const char* no_cgroup = is_crun ? "--cgroup-manager=disabled" : "--rootless=true";
    execl(runtime.c_str(), runtime.c_str(), no_cgroup, "run", "--bundle", bundle.c_str(), id.c_str(),
          nullptr);
    _exit(127);
  }
  close(pipe[1]);
  waitpid(pid, nullptr, 0);
  std::array<char, 64> text{};
  const ssize_t size = read(pipe[0], text.data(), text.size());
  close(pipe[0]);
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
  std::vector<std::int64_t> behind_doors;
  fs::create_directories(folder.path() + "/front");
  fs::create_directories(folder.path() + "/buckets");
  std::ofstream(folder.path() + "/front/ca-bundle.pem") << "authorities\n";
  int number = 0;
  for (int i = 0; i < attempts; ++i) {
    bare.push_back(BareSpawn(program));
    for (const bool doors : {false, true}) {
      Attempt attempt(folder.path(), ++number, {.doors = doors});
      attempt.OpenBarrier();
      (doors ? behind_doors : supervised).push_back(attempt.FirstInstruction());
      attempt.Finish();
    }
  }
  Print("bare posix_spawn to first instruction", bare);
  Print("supervisor's start to first user instruction", supervised);
  Print("the same with /gcs and doors to the front", behind_doors);

  Attempt waiting(folder.path(), ++number, {.args = {"wait"}});
  waiting.OpenBarrier();
  (void)waiting.FirstInstruction();
  std::printf("supervisor, resident: %s\n", waiting.Resident().c_str());
  waiting.Stop();
  waiting.Finish();

  Attempt talking(folder.path(), ++number, {.args = {"lines", std::to_string(kLines)}});
  talking.OpenBarrier();
  const std::int64_t began = Now();
  talking.Finish();
  std::printf("lines from the pipe to acknowledged: %.0f per second\n",
              kLines / (static_cast<double>(Now() - began) / 1e9));
  return 0;
}

/// Containers of an image that is in the cache, compared with the bare runtime.
int RunContainers(const std::string& program, int attempts, const std::string& runtime) {
  const TemporaryFolder folder;
  WriteBundle(folder.path() + "/bundle", program);
  fs::create_directories(folder.path() + "/images");
  fs::copy(folder.path() + "/bundle/rootfs", folder.path() + "/images/layer", fs::copy_options::recursive);
  std::vector<std::int64_t> bare;
  std::vector<std::int64_t> supervised;
  for (int number = 1; number <= attempts; ++number) {
    bare.push_back(BareContainer(runtime, folder.path() + "/bundle"));
    Attempt attempt(folder.path(), number, {.runtime = runtime});
    attempt.OpenBarrier();
    supervised.push_back(attempt.FirstInstruction());
    attempt.Finish();
  }
  Print(("bare " + runtime + " run to first instruction").c_str(), bare);
  Print("supervisor's start to first instruction in it", supervised);
  return 0;
}

/// Every runtime version is the program of the benchmark, and so is every image.
class BenchPrograms final : public ProgramSource {
 public:
  std::optional<Prepared> Find(const v1::Manifest& manifest) override {
    if (manifest.program().has_container()) {
      return image::Image{.digest = "sha256:0",
                          .config = {.entrypoint = {"/program"}},
                          .layers = {manifest.places().images_dir() + "/layer"}};
    }
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
    std::fputs("usage: replica_bench PROGRAM [ATTEMPTS [OCI_RUNTIME]]\n", stderr);
    return 2;
  }
  if (argc > 3) return replica::RunContainers(argv[1], std::atoi(argv[2]), argv[3]);
  return replica::Run(argv[1], argc > 2 ? std::atoi(argv[2]) : 200);
}
