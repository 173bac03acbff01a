#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trainyard::control {

/// What file systems say of themselves, as far as they answer: statvfs(2) of a network's disk that is gone
/// returns never, and no signal ends it. Each folder is asked on a thread of its own, which is left to itself
/// while its disk does not answer; meanwhile the folder is not asked again. One thread at a time.
class AnsweringDisks {
 public:
  /// For all folders together.
  static constexpr std::chrono::milliseconds kAnswerMax{1'000};

  struct Space {
    std::uint64_t device = 0;  ///< which file system it is
    std::int64_t bytes = 0;
    std::int64_t bytes_free = 0;
    friend bool operator==(const Space&, const Space&) = default;
  };
  /// Blocks. Nothing: there is no such folder.
  using Ask = std::function<std::optional<Space>(const std::string& folder)>;
  [[nodiscard]] static std::optional<Space> AskKernel(const std::string& folder);

  explicit AnsweringDisks(Ask ask = AskKernel, std::chrono::milliseconds answer_max = kAnswerMax)
      : ask_(std::move(ask)), answer_max_(answer_max) {}

  /// In their order; nothing where there is no folder, or no answer. Blocks for `answer_max` at most.
  [[nodiscard]] std::vector<std::optional<Space>> Look(const std::vector<std::string>& folders);

 private:
  using Answer = std::shared_future<std::optional<Space>>;
  [[nodiscard]] Answer Begin(const std::string& folder) const;

  Ask ask_;
  std::chrono::milliseconds answer_max_;
  std::map<std::string, Answer> asked_;  ///< by folder: those that have not answered yet
};

}  // namespace trainyard::control
