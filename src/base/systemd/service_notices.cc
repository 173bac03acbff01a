#include "base/systemd/service_notices.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/diagnostics.h"
#include "base/systemd/notify_socket.h"
#include "base/systemd/service_variables.h"

namespace trainyard::systemd {

namespace {

namespace asio = boost::asio;

void Tell(const std::string& state) {
  if (const Status told = Notify(state); !told)
    Diagnose(DiagnosticLevel::kWarning,
             "the service manager does not hear this server: " + told.error().message);
}

}  // namespace

ServiceNotices::ServiceNotices() : watchdog_(TakeWatchdogWait()) {}

void ServiceNotices::Starting(const std::string& what) { Tell("STATUS=" + what); }

void ServiceNotices::Ready(const std::string& url) {
  Tell(std::string(kNotifyReady) + "\nSTATUS=listening on " + url);
}

void ServiceNotices::Stopping() {
  Tell(std::string(kNotifyStopping) + "\nSTATUS=answering the last requests");
}

asio::awaitable<void> ServiceNotices::FeedWatchdog() const {
  if (!watchdog_) co_return;
  asio::steady_timer timer(co_await asio::this_coro::executor);
  while (true) {
    Tell(std::string(kNotifyWatchdog));
    timer.expires_after(*watchdog_ / 2);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

}  // namespace trainyard::systemd
