#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace trainyard::systemd {

/// A start that may take long: while it lives, the service manager is asked for more time again and again
/// ("EXTEND_TIMEOUT_USEC", sd_notify(3)), from a thread of its own, since the start blocks. Not for ever: a
/// start that hangs is ended by the manager some time after kWaitMax. Without a manager it has no effect.
class StartExtension {
 public:
  static constexpr std::chrono::seconds kPeriod{5};      ///< between two requests
  static constexpr std::chrono::seconds kExtension{30};  ///< asked for by each
  static constexpr std::chrono::minutes kWaitMax{
      60};  ///< databases of many gigabytes are brought forward in it

  StartExtension();
  StartExtension(const StartExtension&) = delete;
  StartExtension& operator=(const StartExtension&) = delete;
  /// Joins the thread.
  ~StartExtension() = default;

 private:
  void Extend(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;  ///< last: it uses the others
};

}  // namespace trainyard::systemd
