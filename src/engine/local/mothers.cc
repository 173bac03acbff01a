#include "engine/local/mothers.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstring>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/async/remove_tree.h"
#include "programs/environment/layout.h"
#include "programs/node/machine_figures.h"

namespace trainyard::engine {

namespace {

namespace fs = std::filesystem;
using replica::WarmFolder;

constexpr std::chrono::seconds kLookEvery{10};
constexpr std::chrono::seconds kImportMax{180};
constexpr std::chrono::seconds kLookAtImportEvery{1};
/// Programs that start right after another's end do not wait for the imports beside them.
constexpr std::chrono::milliseconds kQuiet{500};
constexpr int kTriesMax = 12;
constexpr std::pair<int, int> kPythonMin{3, 8};  // with which the start is known to be the same

std::string TopOf(const std::string& module) { return module.substr(0, module.find('.')); }

replica::Variables VariablesIn(std::string_view text) {
  replica::Variables variables;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos)
      variables.emplace(std::string(line.substr(0, equals)), std::string(line.substr(equals + 1)));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return variables;
}

/// Only what is known about runtimes is worth keeping.
void RemoveRest(const fs::path& folder) {
  const auto entries = EntriesOf(folder);
  if (!entries) return;
  for (const fs::path& entry : *entries) {
    if (entry.extension() != WarmFolder::kLearned) static_cast<void>(RemoveTree(entry));
  }
}

}  // namespace

Mothers::Mothers(asio::any_io_executor loop, Settings settings, const environment::Catalogue& catalogue)
    : loop_(std::move(loop)),
      settings_(std::move(settings)),
      folder_{settings_.folder},
      catalogue_(catalogue),
      wake_(loop_),
      tasks_(loop_) {
  if (settings_.bytes_max == 0) {
    static_cast<void>(RemoveTree(folder_.path));
    return;
  }
  if (const Status made = MakePrivateFolder(folder_.path); !made) {
    Diagnose(DiagnosticLevel::kWarning, "programs start without warm interpreters: " + made.error().message);
    return;
  }
  RemoveRest(folder_.path);
  tasks_.Spawn(Watch());
  tasks_.Spawn(Run());
}

Mothers::~Mothers() {
  if (settings_.bytes_max != 0) RemoveRest(folder_.path);
}

std::vector<Mothers::Shown> Mothers::List() const {
  std::vector<Shown> list;
  for (const auto& [runtime, entry] : mothers_)
    list.push_back({.runtime = runtime,
                    .packages = entry.packages,
                    .bytes = entry.process->ResidentBytes(),
                    .since = entry.since,
                    .served = entry.served});
  return list;
}

/// Notices that programs have ended: their supervisors write or touch what is known about their runtime.
asio::awaitable<void> Mothers::Watch() {
  UniqueFd watch(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!watch || inotify_add_watch(watch.get(), folder_.path.c_str(), IN_MOVED_TO | IN_ATTRIB) < 0) {
    Diagnose(DiagnosticLevel::kWarning,
             "programs start without warm interpreters: inotify: " + std::string(std::strerror(errno)));
    co_return;
  }
  asio::posix::stream_descriptor changes(loop_, watch.Release());
  alignas(inotify_event) std::array<char, 16 << 10> events{};
  for (;;) {
    co_await changes.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
    const ssize_t size = read(changes.native_handle(), events.data(), events.size());
    for (std::size_t at = 0; size > 0 && at < static_cast<std::size_t>(size);) {
      const auto* event = reinterpret_cast<const inotify_event*>(events.data() + at);
      at += sizeof(inotify_event) + event->len;
      const fs::path name = event->len > 0 ? fs::path(event->name) : fs::path();
      if (name.extension() == WarmFolder::kLearned) changed_.insert(name.stem().string());
    }
    if (!changed_.empty()) wake_.Set();
  }
}

asio::awaitable<void> Mothers::Run() {
  asio::steady_timer quiet(loop_);
  for (;;) {
    if (mothers_.empty()) {
      co_await wake_.Wait();
    } else {
      co_await wake_.WaitFor(kLookEvery);
    }
    wake_.Reset();
    EndSome();
    if (changed_.empty()) continue;
    quiet.expires_after(kQuiet);
    co_await quiet.async_wait(asio::use_awaitable);
    for (const std::string& runtime : std::exchange(changed_, {})) co_await Renew(runtime);
    EndSome();
  }
}

std::optional<environment::Environment> Mothers::EnvironmentOf(const std::string& runtime) const {
  const environment::Layout layout{settings_.environments_dir};
  for (const environment::RuntimeVersion& version : catalogue_.versions()) {
    const bool may_be = runtime.starts_with(version.version + "-");  // the rest of the name takes time
    if (!may_be || layout.Runtime(version).filename() != runtime) continue;
    const auto python = environment::ParseMajorMinor(
        ReadFile(environment::Layout::Marker(layout.Runtime(version))).value_or(""));
    if (!python || *python < kPythonMin) return std::nullopt;
    return environment::FindEnvironment(
        {.environments_dir = settings_.environments_dir, .runtime_version = version.version, .packages = {}});
  }
  return std::nullopt;
}

asio::awaitable<void> Mothers::Renew(std::string runtime) {
  std::vector<std::string> modules =
      warm::ParseModules(ReadFile(folder_.Learned(runtime), warm::kNoteBytesMax).value_or(""));
  const std::size_t known = modules.size();
  const auto given_up = given_up_.find(runtime);
  if (given_up != given_up_.end() && given_up->second >= known) co_return;
  const auto there = mothers_.find(runtime);
  replica::Variables channels = VariablesIn(ReadFile(folder_.Variables(runtime)).value_or(""));
  const bool is_same =
      there != mothers_.end() && there->second.modules == modules && there->second.channels == channels;
  if (is_same || warm::IsShort(MemoryNow())) co_return;
  auto environment = EnvironmentOf(runtime);
  if (!environment || modules.empty()) co_return;
  std::shared_ptr<MotherProcess> made = co_await Make(runtime, {.folder = folder_.path,
                                                                .name = {},
                                                                .environment = *std::move(environment),
                                                                .modules = modules,
                                                                .channels = channels});
  const auto described = made ? warm::ParseMother(made->description()) : std::nullopt;
  if (!described && warm::IsShort(MemoryNow())) co_return;  // the next program's end tries again
  if (!described || !ReplaceFile(folder_.Description(runtime), made->description(), 0600)) {
    given_up_[runtime] = known;
    Diagnose(DiagnosticLevel::kWarning,
             "programs of " + runtime + " start without a warm interpreter: it could not be made");
    co_return;
  }
  Entry& entry = mothers_[runtime];
  if (entry.process) entry.process->End();
  entry = {.process = std::move(made),
           .modules = std::move(modules),
           .channels = std::move(channels),
           .packages = described->packages,
           .since = std::chrono::system_clock::now(),
           .used = std::chrono::steady_clock::now(),
           .served = entry.served,
           .number = ++count_};
  tasks_.Spawn(Follow(runtime, entry.number));
}

/// Leaves out modules that would not survive a fork, one after the other.
asio::awaitable<std::shared_ptr<MotherProcess>> Mothers::Make(std::string runtime, MotherPlan plan) {
  std::set<std::string>& left_out = left_out_[runtime];
  for (int attempt = 0; attempt < kTriesMax; ++attempt) {
    std::erase_if(plan.modules,
                  [&left_out](const std::string& name) { return left_out.contains(TopOf(name)); });
    plan.name = runtime + "." + std::to_string(++count_);
    auto made = MotherProcess::Start(loop_, plan);
    if (!made) co_return nullptr;
    MotherProcess& mother = **made;
    tasks_.Spawn(Bound(*made));
    if (co_await mother.Ready()) co_return *std::move(made);
    co_await mother.Gone();
    if (mother.left_out().empty()) co_return nullptr;
    Diagnose(DiagnosticLevel::kInfo, "a warm interpreter of " + runtime + " leaves out " + mother.left_out());
    left_out.insert(mother.left_out().substr(0, mother.left_out().find(' ')));
  }
  co_return nullptr;
}

/// Ends it if its imports take too long or too much memory. The others are looked after meanwhile.
asio::awaitable<void> Mothers::Bound(std::weak_ptr<MotherProcess> importing) {
  const auto late = std::chrono::steady_clock::now() + kImportMax;
  asio::steady_timer pause(loop_);
  for (;;) {
    pause.expires_after(kLookAtImportEvery);
    co_await pause.async_wait(asio::use_awaitable);
    EndSome();
    const std::shared_ptr<MotherProcess> mother = importing.lock();
    if (!mother || mother->is_ready()) co_return;
    const bool is_too_large = mother->ResidentBytes() > settings_.bytes_max || warm::IsShort(MemoryNow());
    if (is_too_large || std::chrono::steady_clock::now() > late) co_return mother->End();
  }
}

asio::awaitable<void> Mothers::Follow(std::string runtime, std::int64_t number) {
  const auto find = [&]() -> Entry* {
    const auto found = mothers_.find(runtime);
    return found != mothers_.end() && found->second.number == number ? &found->second : nullptr;
  };
  const std::shared_ptr<MotherProcess> process = find()->process;
  while (co_await process->Served()) {
    Entry* served = find();
    if (served == nullptr) break;
    ++served->served;
    served->used = std::chrono::steady_clock::now();
  }
  if (find() != nullptr) End(runtime);
  co_await process->Gone();
}

void Mothers::End(const std::string& runtime) {
  unlink(folder_.Description(runtime).c_str());
  const auto mother = mothers_.find(runtime);
  mother->second.process->End();
  mothers_.erase(mother);
}

/// The runtimes whose directory is no longer there.
std::vector<std::string> Mothers::Removed() const {
  std::vector<std::string> removed;
  for (const auto& [runtime, entry] : mothers_) {
    const fs::path folder = fs::path(settings_.environments_dir) / "runtimes" / runtime;
    if (access(environment::Layout::Marker(folder).c_str(), F_OK) != 0) removed.push_back(runtime);
  }
  return removed;
}

warm::Memory Mothers::MemoryNow() const {
  const node::MachineFigures machine = node::ReadMachineFigures();
  return {.limit = settings_.bytes_max,
          .total = machine.memory_bytes,
          .available = machine.memory_available_bytes};
}

void Mothers::EndSome() {
  if (mothers_.empty()) return;
  const auto now = std::chrono::steady_clock::now();
  std::vector<std::string> runtimes;
  std::vector<warm::MotherUse> uses;
  for (const std::string& runtime : Removed()) End(runtime);
  for (const auto& [runtime, entry] : mothers_) {
    runtimes.push_back(runtime);
    uses.push_back({.idle = std::chrono::duration_cast<std::chrono::seconds>(now - entry.used),
                    .bytes = entry.process->ResidentBytes()});
  }
  for (const std::size_t i : warm::MothersToEnd(uses, MemoryNow())) {
    if (uses[i].bytes > settings_.bytes_max) {
      given_up_[runtimes[i]] = mothers_[runtimes[i]].modules.size();
      Diagnose(DiagnosticLevel::kWarning, "programs of " + runtimes[i] +
                                              " start without a warm interpreter: it takes more memory than "
                                              "--warm-interpreters allows");
    }
    End(runtimes[i]);
  }
}

}  // namespace trainyard::engine
