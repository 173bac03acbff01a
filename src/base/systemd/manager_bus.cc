#include "base/systemd/manager_bus.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/async/file.h"

namespace trainyard::systemd {

namespace {

constexpr const char* kLibrary = "libsystemd.so.0";
constexpr const char* kManager = "org.freedesktop.systemd1";
constexpr const char* kManagerPath = "/org/freedesktop/systemd1";
constexpr const char* kManagerInterface = "org.freedesktop.systemd1.Manager";
/// systemd answers in milliseconds; an emulated machine that is busy took 2 s.
constexpr std::chrono::seconds kBusWaitMax{20};

/// The functions of libsystemd that we use; the library is never unloaded.
struct SdBus {
  decltype(&sd_bus_new) create = nullptr;
  decltype(&sd_bus_set_address) set_address = nullptr;
  decltype(&sd_bus_set_bus_client) set_bus_client = nullptr;
  decltype(&sd_bus_set_method_call_timeout) set_timeout = nullptr;
  decltype(&sd_bus_start) start = nullptr;
  decltype(&sd_bus_flush_close_unref) close = nullptr;
  decltype(&sd_bus_call) call = nullptr;
  decltype(&sd_bus_call_method) call_method = nullptr;
  decltype(&sd_bus_message_new_method_call) new_call = nullptr;
  decltype(&sd_bus_message_append) append = nullptr;
  decltype(&sd_bus_message_read) read = nullptr;
  decltype(&sd_bus_message_unref) unref = nullptr;
  decltype(&sd_bus_match_signal) match_signal = nullptr;
  decltype(&sd_bus_process) process = nullptr;
  decltype(&sd_bus_wait) wait = nullptr;
  decltype(&sd_bus_error_free) free_error = nullptr;
  decltype(&sd_bus_get_property_trivial) get_property = nullptr;
};

template <typename Function>
bool Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// Loads the library. Returns why it failed; empty: loaded.
std::string Load(SdBus& bus) {
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::string("there is no ") + kLibrary;
  const bool found =
      Find(library, "sd_bus_new", bus.create) && Find(library, "sd_bus_set_address", bus.set_address) &&
      Find(library, "sd_bus_set_bus_client", bus.set_bus_client) &&
      Find(library, "sd_bus_set_method_call_timeout", bus.set_timeout) &&
      Find(library, "sd_bus_start", bus.start) && Find(library, "sd_bus_flush_close_unref", bus.close) &&
      Find(library, "sd_bus_call", bus.call) && Find(library, "sd_bus_call_method", bus.call_method) &&
      Find(library, "sd_bus_message_new_method_call", bus.new_call) &&
      Find(library, "sd_bus_message_append", bus.append) && Find(library, "sd_bus_message_read", bus.read) &&
      Find(library, "sd_bus_message_unref", bus.unref) &&
      Find(library, "sd_bus_match_signal", bus.match_signal) &&
      Find(library, "sd_bus_process", bus.process) && Find(library, "sd_bus_wait", bus.wait) &&
      Find(library, "sd_bus_error_free", bus.free_error) &&
      Find(library, "sd_bus_get_property_trivial", bus.get_property);
  return found ? std::string() : std::string(kLibrary) + " is too old";
}

Result<SdBus> LoadBus() {
  SdBus bus;
  if (std::string why = Load(bus); !why.empty()) return std::unexpected(Unavailable(std::move(why)));
  return bus;
}

std::string Reason(int result) { return std::strerror(-result); }

/// Opens a connection; `is_bus`: a message bus, which requires Hello, unlike systemd's own socket.
Result<sd_bus*> Connect(const SdBus& functions, const std::string& address, bool is_bus) {
  sd_bus* bus = nullptr;
  int result = functions.create(&bus);
  if (result < 0) return std::unexpected(Unavailable(Reason(result)));
  result = functions.set_address(bus, address.c_str());
  if (result >= 0 && is_bus) result = functions.set_bus_client(bus, 1);
  if (result >= 0) {
    const auto wait = std::chrono::duration_cast<std::chrono::microseconds>(kBusWaitMax);
    result = functions.set_timeout(bus, static_cast<std::uint64_t>(wait.count()));
  }
  if (result >= 0) result = functions.start(bus);
  if (result >= 0) return bus;
  functions.close(bus);
  return std::unexpected(Unavailable(address + ": " + Reason(result)));
}

struct Address {
  std::string path;
  bool is_bus;
};

/// Buses first. systemd's own socket also works for root if there is no bus (a small container).
std::vector<Address> ManagerAddresses() {
  if (geteuid() == 0)
    return {{"unix:path=/run/dbus/system_bus_socket", true}, {"unix:path=/run/systemd/private", false}};
  const std::string folder = "unix:path=/run/user/" + std::to_string(geteuid());
  return {{folder + "/bus", true}, {folder + "/systemd/private", false}};
}

/// The event to wait for: the end of a systemd job.
struct JobEnd {
  const SdBus* functions;
  std::string path;    ///< of the job
  std::string result;  ///< "done"; empty: not yet
  struct Removal {
    std::string path;
    std::string result;
  };
  std::vector<Removal> seen;  ///< jobs that ended before the path was known
};

int OnJobRemoved(sd_bus_message* message, void* context, sd_bus_error* /*error*/) {
  auto& end = *static_cast<JobEnd*>(context);
  std::uint32_t number = 0;
  const char* path = nullptr;
  const char* unit = nullptr;
  const char* result = nullptr;
  if (end.functions->read(message, "uoss", &number, &path, &unit, &result) < 0) return 0;
  end.seen.push_back({path, result});
  return 0;
}

/// Returns when the group is empty, or gone. The kernel wakes processes that poll cgroup.events.
void AwaitEmpty(const char* events) {
  const int file = open(events, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  for (;;) {
    std::array<char, 256> text{};
    const ssize_t size = pread(file, text.data(), text.size() - 1, 0);
    if (size <= 0 || std::strstr(text.data(), "populated 0") != nullptr) return;
    pollfd changed{.fd = file, .events = POLLPRI, .revents = 0};
    if (poll(&changed, 1, -1) < 0 && errno != EINTR) return;
  }
}

[[noreturn]] void Stay(int pipe) {
  prctl(PR_SET_NAME, "trainyard-stay");
  setsid();
  std::signal(SIGHUP, SIG_IGN);  // it must survive the end of its terminal
  std::array<char, PATH_MAX> path{};
  std::size_t size = 0;
  for (ssize_t more = 0; size + 1 < path.size(); size += static_cast<std::size_t>(more)) {
    more = read(pipe, path.data() + size, path.size() - 1 - size);
    if (more < 0 && errno == EINTR)
      more = 0;
    else if (more <= 0)
      break;
  }
  close(pipe);
  if (size > 0) AwaitEmpty(path.data());
  _exit(0);
}

}  // namespace

bool IsRunning() { return access("/run/systemd/system", F_OK) == 0; }

struct ManagerBus::State {
  SdBus functions;
  sd_bus* bus = nullptr;

  ~State() {
    if (bus != nullptr) functions.close(bus);
  }
  [[nodiscard]] Status Call(sd_bus_message* request, sd_bus_message** reply) const;
  [[nodiscard]] Status WaitForJob(JobEnd& end) const;
};

Status ManagerBus::State::Call(sd_bus_message* request, sd_bus_message** reply) const {
  sd_bus_error error = SD_BUS_ERROR_NULL;
  const int result = functions.call(bus, request, 0, &error, reply);
  functions.unref(request);
  if (result >= 0) return {};
  const std::string name = error.name == nullptr ? "" : error.name;
  const std::string why = error.message == nullptr ? Reason(result) : error.message;
  functions.free_error(&error);
  const bool exists = name == "org.freedesktop.systemd1.UnitExists";
  return std::unexpected(Error{exists ? Code::kAlreadyExists : Code::kUnavailable, why, {}});
}

Status ManagerBus::State::WaitForJob(JobEnd& end) const {
  const auto deadline = std::chrono::steady_clock::now() + kBusWaitMax;
  for (;;) {
    for (const JobEnd::Removal& seen : end.seen) {
      if (seen.path != end.path) continue;
      if (seen.result == "done") return {};
      return std::unexpected(Unavailable("systemd could not do it: " + seen.result));
    }
    end.seen.clear();
    const int processed = functions.process(bus, nullptr);
    if (processed < 0) return std::unexpected(Unavailable(Reason(processed)));
    if (processed > 0) continue;
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left <= std::chrono::seconds(0))
      return std::unexpected(Unavailable("systemd did not answer in time"));
    const auto wait = std::chrono::duration_cast<std::chrono::microseconds>(left);
    if (const int waited = functions.wait(bus, static_cast<std::uint64_t>(wait.count())); waited < 0)
      return std::unexpected(Unavailable(Reason(waited)));
  }
}

ManagerBus::ManagerBus(std::unique_ptr<State> state) : state_(std::move(state)) {}
ManagerBus::ManagerBus(ManagerBus&&) noexcept = default;
ManagerBus::~ManagerBus() = default;

Result<ManagerBus> ManagerBus::Open() {
  TY_TRY(const SdBus functions, LoadBus());
  auto state = std::make_unique<State>(State{.functions = functions});
  Error last;
  for (const Address& address : ManagerAddresses()) {
    auto bus = Connect(functions, address.path, address.is_bus);
    if (bus) {
      state->bus = *bus;
      return ManagerBus(std::move(state));
    }
    if (last.message.empty()) last = std::move(bus).error();
  }
  return std::unexpected(std::move(last));
}

Status ManagerBus::StartScope(const std::string& name, const std::string& description, pid_t pid) {
  const SdBus& bus = state_->functions;
  JobEnd end{.functions = &bus};
  sd_bus_error none = SD_BUS_ERROR_NULL;
  // systemd only sends the ends of jobs to subscribers.
  bus.call_method(state_->bus, kManager, kManagerPath, kManagerInterface, "Subscribe", &none, nullptr, "");
  bus.free_error(&none);
  int result = bus.match_signal(state_->bus, nullptr, nullptr, kManagerPath, kManagerInterface, "JobRemoved",
                                OnJobRemoved, &end);
  sd_bus_message* request = nullptr;
  if (result >= 0)
    result =
        bus.new_call(state_->bus, &request, kManager, kManagerPath, kManagerInterface, "StartTransientUnit");
  if (result >= 0) {
    result = bus.append(request, "ssa(sv)a(sa(sv))", name.c_str(), "fail", 4,  //
                        "Description", "s", description.c_str(),               //
                        "PIDs", "au", 1, static_cast<std::uint32_t>(pid),      //
                        "Delegate", "b", 1, "TasksMax", "t", ~std::uint64_t{0}, 0);
  }
  if (result < 0) return std::unexpected(Unavailable(Reason(result)));
  sd_bus_message* reply = nullptr;
  TY_RETURN_IF_ERROR(state_->Call(request, &reply));
  const char* job = nullptr;
  result = bus.read(reply, "o", &job);
  if (job != nullptr) end.path = job;
  bus.unref(reply);
  if (result < 0) return std::unexpected(Unavailable(Reason(result)));
  return state_->WaitForJob(end);
}

Status ManagerBus::Join(const std::string& scope, const std::string& group, pid_t pid) {
  const SdBus& bus = state_->functions;
  sd_bus_message* request = nullptr;
  int result =
      bus.new_call(state_->bus, &request, kManager, kManagerPath, kManagerInterface, "AttachProcessesToUnit");
  if (result >= 0)
    result = bus.append(request, "ssau", scope.c_str(), group.c_str(), 1, static_cast<std::uint32_t>(pid));
  if (result < 0) return std::unexpected(Unavailable(Reason(result)));
  return state_->Call(request, nullptr);
}

bool KillsUserProcesses() {
  const auto functions = LoadBus();
  if (!functions) return false;
  const auto bus = Connect(*functions, "unix:path=/run/dbus/system_bus_socket", true);
  if (!bus) return false;
  int kills = 0;
  sd_bus_error error = SD_BUS_ERROR_NULL;
  functions->get_property(*bus, "org.freedesktop.login1", "/org/freedesktop/login1",
                          "org.freedesktop.login1.Manager", "KillUserProcesses", &error, 'b', &kills);
  functions->free_error(&error);
  functions->close(*bus);
  return kills != 0;
}

bool Lingers(const std::string& user) {
  return !user.empty() && user.find('/') == std::string::npos &&
         access(("/var/lib/systemd/linger/" + user).c_str(), F_OK) == 0;
}

Result<SessionStay> SessionStay::Start() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return std::unexpected(ErrnoError(errno, "pipe"));
  UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const pid_t middle = fork();
  if (middle < 0) return std::unexpected(ErrnoError(errno, "fork"));
  if (middle == 0) {  // double fork: the helper is not our child, and we need not wait for it
    if (fork() != 0) _exit(0);
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int stream = 0; stream <= 2; ++stream) dup2(null, stream);
    const int pipe = dup2(reading.get(), 3);
    close_range(4, ~0U, 0);
    Stay(pipe);
  }
  while (waitpid(middle, nullptr, 0) < 0 && errno == EINTR) {
  }
  return SessionStay(std::move(writing));
}

Status SessionStay::WaitFor(const std::string& group) {
  TY_RETURN_IF_ERROR(WriteAll(pipe_.get(), group + "/cgroup.events"));
  pipe_.Reset();
  return {};
}

}  // namespace trainyard::systemd
