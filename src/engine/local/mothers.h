#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/async/event.h"
#include "base/async/task_group.h"
#include "engine/local/mother.h"
#include "programs/environment/catalogue.h"
#include "programs/interpreters/warm_folder.h"
#include "rules/warm/learned.h"

namespace trainyard::engine {

/// The warm interpreters of this machine: one for each runtime version whose programs have ended here, made
/// in the background from what they imported. Supervisors find them by files (warm_folder.h), so that a start
/// does not wait for this process. Loop thread only.
class Mothers {
 public:
  struct Settings {
    std::filesystem::path folder;  ///< DATA/run/warm
    std::filesystem::path environments_dir;
    std::int64_t bytes_max = 0;  ///< of memory, for all of them; 0: there are none
  };
  /// One of them, for operators.
  struct Shown {
    std::string runtime;  ///< the version's directory
    std::vector<std::string> packages;
    std::int64_t bytes = 0;
    std::chrono::system_clock::time_point since;
    std::int64_t served = 0;  ///< programs
  };

  /// Removes what a previous server left. The catalogue outlives it.
  Mothers(asio::any_io_executor loop, Settings settings, const environment::Catalogue& catalogue);
  Mothers(const Mothers&) = delete;
  Mothers& operator=(const Mothers&) = delete;
  ~Mothers();

  [[nodiscard]] std::vector<Shown> List() const;

 private:
  struct Entry {
    std::shared_ptr<MotherProcess> process;
    std::vector<std::string> modules;  ///< that it was asked to import
    replica::Variables channels;       ///< that it was started with
    std::vector<std::string> packages;
    std::chrono::system_clock::time_point since;
    std::chrono::steady_clock::time_point used;
    std::int64_t served = 0;
    std::int64_t number = 0;
  };

  asio::awaitable<void> Watch();
  asio::awaitable<void> Run();
  asio::awaitable<void> Renew(std::string runtime);
  asio::awaitable<std::shared_ptr<MotherProcess>> Make(std::string runtime, MotherPlan plan);
  asio::awaitable<void> Bound(std::weak_ptr<MotherProcess> importing);
  asio::awaitable<void> Follow(std::string runtime, std::int64_t number);
  [[nodiscard]] warm::Memory MemoryNow() const;
  void EndSome();
  [[nodiscard]] std::vector<std::string> Removed() const;
  void End(const std::string& runtime);
  [[nodiscard]] std::optional<environment::Environment> EnvironmentOf(const std::string& runtime) const;

  asio::any_io_executor loop_;
  Settings settings_;
  replica::WarmFolder folder_;
  const environment::Catalogue& catalogue_;
  std::map<std::string, Entry> mothers_;                   ///< by runtime
  std::set<std::string> changed_;                          ///< runtimes whose programs have ended
  std::map<std::string, std::set<std::string>> left_out_;  ///< top-level modules, by runtime
  std::map<std::string, std::size_t> given_up_;            ///< runtime -> how many modules were too many
  std::int64_t count_ = 0;
  Event wake_;
  TaskGroup tasks_;
};

}  // namespace trainyard::engine
