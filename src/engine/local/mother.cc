#include "engine/local/mother.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <tuple>
#include <utility>

#include "base/async/file.h"
#include "base/async/remove_tree.h"
#include "base/async/unix_socket.h"
#include "programs/runtimes/program.h"
#include "programs/sandbox/cgroups/proc_figures.h"
#include "programs/sandbox/namespaces/device_files.h"
#include "rules/cluster/device_variables.h"
#include "rules/cluster/tf_config.h"

namespace trainyard::engine {

namespace {

namespace fs = std::filesystem;

// Numbers of a mother's descriptors: trainyard_warm.py.
constexpr int kControl = 3;
constexpr int kListener = 4;
constexpr int kImportNice = 10;
constexpr std::size_t kLineMax = 16 << 10;
constexpr int kWaitingMax = 64;

Result<UniqueFd> Listen(const fs::path& path) {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  TY_TRY(const UnixAddress address, UnixAddress::Make(path));
  if (!socket || bind(socket.get(), address.get(), sizeof(address.address)) != 0 ||
      listen(socket.get(), kWaitingMax) != 0)
    return std::unexpected(ErrnoError(errno, path.string()));
  return socket;
}

/// A pipe that nobody reads would stop it; standard output that is not a pipe would show in its programs.
struct Output {
  UniqueFd read;
  UniqueFd write;
};

Result<Output> OpenOutput() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return std::unexpected(ErrnoError(errno, "pipe"));
  fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);  // best effort
  Output output{.read = UniqueFd(ends[0]), .write = UniqueFd(ends[1])};
  return output;
}

}  // namespace

std::vector<std::string> MotherVariables(const MotherPlan& plan, const std::string& home) {
  replica::v1::Manifest manifest;
  manifest.mutable_program()->set_python_module("m");
  manifest.mutable_replica()->set_type(replica::v1::MASTER);
  replica::v1::Cluster cluster;
  cluster.add_endpoints()->mutable_replica()->set_type(replica::v1::MASTER);
  replica::Variables same = cluster::ReplicaVariables(manifest, cluster, replica::CpuCount());
  std::erase_if(same, [](const auto& variable) {
    return variable.first == "TF_CONFIG" || !warm::IsReadByLibraries(variable.first);
  });
  return replica::UserEnvironment({.base = {{"HOME", home},
                                            {"TMPDIR", "/tmp"},
                                            {"TRAINYARD_LOG_FD", std::to_string(replica::kStructuredLogFd)}},
                                   .devices = cluster::DeviceVariables(manifest, cluster::Sight::kOwn),
                                   .cluster = std::move(same),
                                   .environment = plan.environment.variables,
                                   .manifest = {},
                                   .channels = plan.channels});
}

MotherProcess::MotherProcess(ChildProcess process, asio::posix::stream_descriptor control,
                             const MotherPlan& plan)
    : process_(std::move(process)),
      control_(std::move(control)),
      socket_(plan.folder / (plan.name + ".sock")),
      own_(plan.folder / (plan.name + ".own")) {}

MotherProcess::~MotherProcess() { End(); }

void MotherProcess::End() noexcept {
  boost::system::error_code ignored;
  if (!control_.is_open()) return;
  control_.close(ignored);
  unlink(socket_.c_str());
  static_cast<void>(process_.Kill(SIGKILL));
  static_cast<void>(RemoveTree(own_));
}

asio::awaitable<void> MotherProcess::Gone() {
  End();
  std::ignore = co_await process_.Wait();
}

Result<std::shared_ptr<MotherProcess>> MotherProcess::Start(const asio::any_io_executor& loop,
                                                            const MotherPlan& plan) {
  const fs::path own = plan.folder / (plan.name + ".own");
  TY_RETURN_IF_ERROR(MakePrivateFolder(own));
  TY_RETURN_IF_ERROR(MakePrivateFolder(own / "home"));
  TY_TRY(const UniqueFd listener, Listen(plan.folder / (plan.name + ".sock")));
  TY_TRY(const Output output, OpenOutput());
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return std::unexpected(ErrnoError(errno, "socketpair"));
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  std::vector<std::string> variables = MotherVariables(plan, (own / "home").string());
  std::string description = "socket " + plan.name + ".sock\n";
  for (const std::string& variable : variables) description += "variable " + variable + "\n";
  std::string modules = "TRAINYARD_WARM_MODULES=";
  for (const std::string& name : plan.modules) modules += name + ",";
  variables.push_back(std::move(modules));
  TY_TRY(ChildProcess process,
         ChildProcess::Spawn({.argv = {plan.environment.python, "-m", "trainyard_warm"},
                              .environment = std::move(variables),
                              .directory = own,
                              .descriptors = {{theirs.get(), kControl},
                                              {listener.get(), kListener},
                                              {output.read.get(), kListener + 1},
                                              {output.write.get(), STDOUT_FILENO},
                                              {output.write.get(), STDERR_FILENO},
                                              {output.write.get(), replica::kStructuredLogFd}},
                              .group = ProcessGroup::kSession,
                              .action = "start a warm interpreter"}));
  if (geteuid() == 0)  // others could not take it back
    setpriority(PRIO_PROCESS, static_cast<id_t>(process.pid()), kImportNice);
  asio::posix::stream_descriptor control(loop, ours.Release());
  std::shared_ptr<MotherProcess> mother(new MotherProcess(std::move(process), std::move(control), plan));
  mother->description_ = std::move(description);
  return mother;
}

asio::awaitable<std::optional<std::string>> MotherProcess::NextLine() {
  const auto [error, size] = co_await asio::async_read_until(
      control_, asio::dynamic_buffer(received_, kLineMax), '\n', asio::as_tuple(asio::use_awaitable));
  if (error) co_return std::nullopt;
  std::string line = received_.substr(0, size);
  received_.erase(0, size);
  co_return line;
}

asio::awaitable<bool> MotherProcess::Ready() {
  constexpr std::string_view kLeft = "left ";
  for (;;) {
    const auto line = co_await NextLine();
    if (!line) co_return false;
    if (line->starts_with(kLeft)) {
      left_out_ = line->substr(kLeft.size(), line->size() - kLeft.size() - 1);
    } else {
      description_ += *line;
    }
    if (*line != "ready\n") continue;
    is_ready_ = true;
    if (geteuid() == 0) setpriority(PRIO_PROCESS, static_cast<id_t>(pid()), getpriority(PRIO_PROCESS, 0));
    co_return true;
  }
}

asio::awaitable<bool> MotherProcess::Served() { co_return (co_await NextLine()).has_value(); }

std::int64_t MotherProcess::ResidentBytes() const {
  const auto stat = ReadFile("/proc/" + std::to_string(pid()) + "/stat");
  return stat ? replica::ParseProcessStat(*stat).resident_pages * sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace trainyard::engine
