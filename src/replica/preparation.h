#pragma once

#include <functional>
#include <optional>
#include <string>

#include "environment/environment.h"
#include "replica/download.h"
#include "replica/frame.h"
#include "replica/sandbox.h"

namespace trainyard::replica {

/// Where environments come from: environment::FindEnvironment and PrepareEnvironment, or a test's own.
struct EnvironmentSource {
  std::function<std::optional<environment::Environment>(const environment::EnvironmentRequest&)> find;
  std::function<Result<environment::Environment>(const environment::EnvironmentRequest&,
                                                 const environment::PreparationHooks&)>
      prepare;
};

/// Building an environment, in a sandbox of its own: it can be stopped at any point with all that it started.
/// One thread.
class Preparation {
 public:
  struct Observer {
    virtual ~Observer() = default;
    virtual void OnPreparationLine(bool is_error, std::string_view line) = 0;
  };

  struct Task {
    environment::EnvironmentRequest request;
    DownloadSource packages;
    int lock_fd = -1;
  };

  /// Source and observer outlive the preparation.
  [[nodiscard]] static Result<Preparation> Start(const EnvironmentSource& source, Task task,
                                                 Observer& observer);

  /// Readable: OnReadable(). Both ends of the conversation: the lines, and the end.
  [[nodiscard]] int fd() const noexcept { return pipe_.get(); }
  /// Passes lines on to the observer. The outcome when the preparation has ended.
  [[nodiscard]] std::optional<Result<environment::Environment>> OnReadable();

 private:
  Preparation(Sandbox sandbox, UniqueFd pipe, Observer& observer)
      : sandbox_(std::move(sandbox)), pipe_(std::move(pipe)), observer_(&observer) {}
  void Take(std::string_view message);

  Sandbox sandbox_;
  UniqueFd pipe_;
  Observer* observer_;
  FrameReader frames_;
  std::optional<Result<environment::Environment>> outcome_;
};

}  // namespace trainyard::replica
