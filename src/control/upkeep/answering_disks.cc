#include "control/upkeep/answering_disks.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <memory>
#include <system_error>
#include <thread>
#include <utility>

namespace trainyard::control {

std::optional<AnsweringDisks::Space> AnsweringDisks::AskKernel(const std::string& folder) {
  struct stat status{};
  struct statvfs space{};
  if (::stat(folder.c_str(), &status) != 0 || ::statvfs(folder.c_str(), &space) != 0) return std::nullopt;
  return Space{.device = status.st_dev,
               .bytes = static_cast<std::int64_t>(space.f_blocks * space.f_frsize),
               .bytes_free = static_cast<std::int64_t>(space.f_bavail * space.f_frsize)};
}

/// The thread owns all that it uses, so it may outlive everything. The future of a promise, unlike that of
/// std::async, does not wait in its destructor.
AnsweringDisks::Answer AnsweringDisks::Begin(const std::string& folder) const {
  auto promise = std::make_shared<std::promise<std::optional<Space>>>();
  Answer answer = promise->get_future().share();
  try {
    std::thread([promise, ask = ask_, folder] { promise->set_value(ask(folder)); }).detach();
  } catch (const std::system_error&) {  // no thread can be started: treated as no answer
    promise->set_value(std::nullopt);
  }
  return answer;
}

std::vector<std::optional<AnsweringDisks::Space>> AnsweringDisks::Look(
    const std::vector<std::string>& folders) {
  const auto deadline = std::chrono::steady_clock::now() + answer_max_;
  for (const std::string& folder : folders)
    if (!asked_.contains(folder)) asked_.emplace(folder, Begin(folder));
  std::vector<std::optional<Space>> spaces;
  for (const std::string& folder : folders) {
    const auto asked = asked_.find(folder);
    const bool has_answered =
        asked != asked_.end() && asked->second.wait_until(deadline) == std::future_status::ready;
    spaces.push_back(has_answered ? asked->second.get() : std::nullopt);
  }
  std::erase_if(asked_, [](const auto& one) {
    return one.second.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  });
  return spaces;
}

}  // namespace trainyard::control
