#include "replica/supervisor/testing/attempt_fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/async/file.h"
#include "programs/attempt/attempt_dir.h"
#include "programs/attempt/init_note.h"
#include "programs/runtimes/oci_container.h"
#include "programs/sandbox/cgroups/cgroup.h"
#include "programs/sandbox/cgroups/installation_group.h"
#include "replica/supervisor/run_replica.h"

namespace trainyard::replica {

namespace {

namespace fs = std::filesystem;

void WriteScript(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path) << text;
  fs::permissions(path, fs::perms::owner_all | fs::perms::group_exec | fs::perms::group_read |
                            fs::perms::others_exec | fs::perms::others_read);
}

}  // namespace

bool WaitForEnd(const UniqueFd& pidfd) {
  pollfd ended{.fd = pidfd.get(), .events = POLLIN, .revents = 0};
  return poll(&ended, 1, 20'000) == 1;
}

bool IsRunning(pid_t pid) {
  const auto stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  return stat && stat->find(") Z ") == std::string::npos;
}

bool WaitUntilGone(pid_t pid) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (IsRunning(pid)) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    sched_yield();
  }
  return true;
}

AttemptFixture::AttemptFixture() : dir_{folder_.path() + "/attempts/7-master-replica-0-1"} {
  fs::create_directories(dir_.path);
  fs::create_directories(folder_.path() + "/run");
  manifest_.set_project("p");
  manifest_.set_job_id("census");
  manifest_.set_job_uid(7);
  manifest_.mutable_replica()->set_type(v1::MASTER);
  manifest_.set_attempt(1);
  // cgroups are named after it: tests run in parallel.
  manifest_.set_attempt_id("test" + std::to_string(getpid()) + "-" +
                           fs::path(folder_.path()).filename().string());
  manifest_.set_token("secret");
  manifest_.set_task_name("master-replica-0");
  manifest_.set_region("us-central1");
  manifest_.mutable_program()->set_runtime_version("rt");
  manifest_.mutable_program()->set_python_module("trainer.task");
  manifest_.mutable_places()->set_attempt_dir(dir_.path);
  manifest_.mutable_places()->set_environments_dir(folder_.path() + "/environments");
  manifest_.mutable_places()->set_attach_socket(folder_.path() + "/run/attach.sock");
  manifest_.mutable_places()->set_replica_socket(manifest_.places().attach_socket());  // FakeServer has both
  // Groups of version 1 need no preparation; those of version 2 must be created by the server.
  if (const auto view = CgroupView::Own(); view && CgroupVersion(*view) == 1)
    manifest_.mutable_places()->set_cgroup_version(1);
  manifest_.mutable_limits()->set_stop_grace_ms(20'000);
  manifest_.set_network(v1::Manifest::HOST);
  manifest_.set_address("127.77.0.1");
  manifest_.set_port(20'001);
  manifest_.set_host_name("cmle-training-master-0123456789-0");
  manifest_.set_job_json("{}");
  v1::Endpoint& endpoint = *cluster_.add_endpoints();
  *endpoint.mutable_replica() = manifest_.replica();
  endpoint.set_host_name(manifest_.host_name());
  endpoint.set_address(manifest_.address());
  endpoint.set_port(manifest_.port());
  Program("exit 0");
}

AttemptFixture::~AttemptFixture() {
  server_.reset();
  if (supervisor_ > 0) {
    kill(supervisor_, SIGKILL);
    waitpid(supervisor_, nullptr, 0);
  }
  if (const auto cgroup = ReadFile(dir_.Cgroup())) RemoveCgroup(*cgroup);
  if (const auto note = ReadInitNote(dir_)) {
    for (const std::string& group : note->groups) RemoveCgroup(group);
  }
  RemoveContainerFolder(dir_.Container());
}

void AttemptFixture::Program(const std::string& script) {
  WriteScript(folder_.path() + "/environments/rt/bin/python", "#!/bin/sh\n" + script + "\n");
}

void AttemptFixture::PythonProgram(const std::string& text) {
  const std::string module = folder_.path() + "/environments/program.py";
  WriteScript(module, text);
  Program("exec /usr/bin/python3 " + module);
}

void AttemptFixture::PreparedBy(const std::string& script) {
  const std::string runtime = folder_.path() + "/environments/rt";
  fs::remove_all(runtime);
  WriteScript(runtime + "/prepare", "#!/bin/sh\ncd " + runtime + "\n" + script + "\n");
}

v1::Manifest AttemptFixture::Order() const {
  v1::Manifest order = manifest_;
  order.clear_places();
  order.clear_network();
  order.clear_address();
  order.clear_port();
  return order;
}

void AttemptFixture::StartServer() {
  server_ = std::make_unique<FakeServer>(manifest_.places().attach_socket(), memory_);
}

void AttemptFixture::StartSupervisor(const std::vector<std::string>& options) {
  v1::Manifest manifest = manifest_;
  const auto secrets = TakeSecretValues(manifest);
  ASSERT_TRUE(secrets.has_value());
  if (!fs::exists(dir_.Manifest())) {
    ASSERT_TRUE(WriteManifest(dir_, manifest).has_value());
  }
  std::vector<std::string> words = {"trainyard", "replica"};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(dir_.path);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 2, SupervisorLog().c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (*secrets) posix_spawn_file_actions_adddup2(&actions, secrets->get(), STDIN_FILENO);
  if (engine_lock_) posix_spawn_file_actions_adddup2(&actions, engine_lock_.get(), kInheritedLockFd);
  setenv("LEAKED_FROM_SERVER", "yes", 1);
  ASSERT_EQ(posix_spawn(&supervisor_, "/proc/self/exe", &actions, nullptr, argv.data(), environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  supervisor_fd_.Reset(static_cast<int>(syscall(SYS_pidfd_open, supervisor_, 0)));
  ASSERT_TRUE(supervisor_fd_);
}

bool AttemptFixture::WaitForPhase(v1::Phase phase) {
  return WaitFor([phase](const FakeServer::Memory& memory) {
    return std::ranges::any_of(memory.frames, [phase](const v1::FromReplica& frame) {
      return frame.phase_changed().phase() == phase || frame.hello().phase() == phase;
    });
  });
}

bool AttemptFixture::WaitForLine(const std::string& text) {
  return WaitFor([&text](const FakeServer::Memory& memory) {
    return std::ranges::any_of(memory.lines,
                               [&text](const v1::LogLine& line) { return line.text() == text; });
  });
}

void AttemptFixture::OpenBarrier() {
  ASSERT_TRUE(WaitForPhase(v1::READY));
  v1::ToReplica frame;
  *frame.mutable_cluster() = cluster_;
  server_->Send(frame);
  ASSERT_TRUE(WaitForPhase(v1::RUNNING));
}

void AttemptFixture::Stop(const std::string& reason, bool kill) {
  v1::ToReplica frame;
  frame.mutable_stop()->set_reason(reason);
  frame.mutable_stop()->set_kill(kill);
  server_->Send(frame);
}

void AttemptFixture::Dismiss() {
  v1::ToReplica frame;
  frame.mutable_dismiss();
  server_->Send(frame);
}

bool AttemptFixture::LetEnd() {
  StartServer();
  OpenBarrier();
  std::ofstream(dir_.Work() + "/go") << "go";
  WaitForExit();
  Dismiss();
  return !HasFailure();
}

v1::ExitRecord AttemptFixture::WaitForExit() {
  const bool came = WaitFor([](const FakeServer::Memory& memory) {
    return std::ranges::any_of(memory.frames, [](const v1::FromReplica& frame) { return frame.has_exit(); });
  });
  EXPECT_TRUE(came) << "no exit record";
  const std::scoped_lock lock(memory_->mutex);
  EXPECT_EQ(memory_->problems, std::vector<std::string>());
  return came ? std::ranges::find_if(memory_->frames, [](const auto& frame) { return frame.has_exit(); })
                    ->exit()
              : v1::ExitRecord();
}

v1::ExitRecord AttemptFixture::Finish() {
  v1::ExitRecord exit = WaitForExit();
  const auto recorded = ReadExit(dir_);
  EXPECT_TRUE(recorded && *recorded);
  if (recorded && *recorded) {
    EXPECT_EQ((*recorded)->SerializeAsString(), exit.SerializeAsString());
  }
  Dismiss();
  const bool ended = WaitForEnd(supervisor_fd_);
  EXPECT_TRUE(ended) << "not dismissed";
  if (!ended) return exit;
  int status = 0;
  EXPECT_EQ(waitpid(supervisor_, &status, WNOHANG), supervisor_);
  EXPECT_EQ(status, 0);
  supervisor_ = -1;
  ExpectNothingLeft();
  return exit;
}

void AttemptFixture::ExpectNothingLeft() {
  EXPECT_EQ(IsLocked(dir_), false);
  std::istringstream cgroups(ReadFile(dir_.Cgroup()).value_or(""));
  for (std::string path; std::getline(cgroups, path);) EXPECT_FALSE(fs::exists(path)) << path;
  if (const auto note = ReadInitNote(dir_)) {
    for (const std::string& group : note->groups) EXPECT_FALSE(fs::exists(group)) << group;
  }
  const auto mounts = ReadFile("/proc/self/mountinfo");
  EXPECT_EQ(mounts->find(folder_.path()), std::string::npos) << "a mount leaked";
}

std::vector<std::string> AttemptFixture::Lines() {
  const std::scoped_lock lock(memory_->mutex);
  std::vector<std::string> shown;
  for (const v1::LogLine& line : memory_->lines) {
    shown.push_back(logging::v2::LogEntry::Severity_Name(line.severity()) + " " + line.text());
  }
  return shown;
}

std::vector<std::string> AttemptFixture::UserLines() {
  std::vector<std::string> lines = Lines();
  const auto begin = std::ranges::find_if(
      lines, [](const std::string& line) { return line.starts_with("INFO Running command: "); });
  const auto end = std::ranges::find_if(lines, [](const std::string& line) {
    return line.starts_with("INFO Module completed") || line.starts_with("ERROR Command '[");
  });
  if (begin == lines.end() || begin >= end) return {};
  return {begin + 1, end};
}

}  // namespace trainyard::replica
