#include "base/systemd/start_extension.h"

#include <tuple>

#include "base/systemd/notify_socket.h"
#include "base/systemd/service_variables.h"

namespace trainyard::systemd {

StartExtension::StartExtension() {
  if (IsNotified()) thread_ = std::jthread([this](const std::stop_token& stop) { Extend(stop); });
}

void StartExtension::Extend(const std::stop_token& stop) {
  const std::string request = NotifyExtend(kExtension);
  const auto give_up_at = std::chrono::steady_clock::now() + kWaitMax;
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested() && std::chrono::steady_clock::now() < give_up_at) {
    std::ignore = Notify(request);  // if the manager is gone, nobody limits the start
    ended_.wait_for(lock, stop, kPeriod, [] { return false; });
  }
}

}  // namespace trainyard::systemd
