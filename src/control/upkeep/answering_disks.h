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

/// The free space of file systems that answer: statvfs(2) on a network disk that is gone never returns, and
/// no signal ends it. Each directory is checked on a separate thread, which is abandoned while its disk does
/// not answer; meanwhile that directory is not checked again. One thread at a time.
class AnsweringDisks {
 public:
  /// For all directories together.
  static constexpr std::chrono::milliseconds kAnswerMax{1'000};

  struct Space {
    std::uint64_t device = 0;  ///< identifies the file system
    std::int64_t bytes = 0;
    std::int64_t bytes_free = 0;
    friend bool operator==(const Space&, const Space&) = default;
  };
  /// Blocks. Nothing: there is no such directory.
  using Ask = std::function<std::optional<Space>(const std::string& folder)>;
  [[nodiscard]] static std::optional<Space> AskKernel(const std::string& folder);

  explicit AnsweringDisks(Ask ask = AskKernel, std::chrono::milliseconds answer_max = kAnswerMax)
      : ask_(std::move(ask)), answer_max_(answer_max) {}

  /// In the same order; nothing if there is no such directory, or no answer. Blocks for at most `answer_max`.
  [[nodiscard]] std::vector<std::optional<Space>> Look(const std::vector<std::string>& folders);

 private:
  using Answer = std::shared_future<std::optional<Space>>;
  [[nodiscard]] Answer Begin(const std::string& folder) const;

  Ask ask_;
  std::chrono::milliseconds answer_max_;
  std::map<std::string, Answer> asked_;  ///< by directory: calls that have not returned yet
};

}  // namespace trainyard::control
