#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "engine/kubernetes/kube_client.h"

namespace trainyard::engine {

/// Called on the executor, in the order of what the API server said.
struct PodWatchHandlers {
  /// All pods, as they were at some moment after `asked_at`.
  std::function<void(std::vector<kubernetes::Pod> pods, SysTime asked_at)> on_list;
  std::function<void(PodEvent event)> on_event;
  /// The API server does not answer, or refuses to: one sentence each time it was tried. The next success is
  /// an on_list.
  std::function<void(std::string words)> on_failed;
};

struct PodWatchOptions {
  std::string selector{};                      ///< "trainyard.dev/installation=1f3a"
  std::chrono::milliseconds pause_min{1'000};  ///< after a failure; doubled each time
  std::chrono::milliseconds pause_max{30'000};
  /// If more messages than this wait for the executor, they are dropped, and the pods are listed again.
  std::size_t waiting_max = 100'000;
};

/// Follows the pods of an installation on a thread of its own: lists them, then watches them, and starts
/// again with a list when the API server has failed or has forgotten the version.
///
/// Lifecycle: the constructor starts the thread. After Stop(), or once the destructor has begun, no handler
/// is called; both are for the executor's thread. The destructor joins the thread: within about a second
/// while it watches, else when the request in progress has ended.
class PodWatch {
 public:
  /// `client` and `clock` outlive it. The executor has one thread.
  PodWatch(const KubeClient& client, const Clock& clock, boost::asio::any_io_executor executor,
           PodWatchOptions options, PodWatchHandlers handlers);
  ~PodWatch();
  PodWatch(const PodWatch&) = delete;
  PodWatch& operator=(const PodWatch&) = delete;

  void Stop();
  /// Lists all pods again, within about a second. The executor's thread.
  void ListSoon() { list_soon_ = true; }

 private:
  class Mailbox;
  class Pauses;
  void Run(const std::stop_token& stop);
  /// Watches from the version until the pods have to be listed again, and pauses before if that is necessary.
  void Watch(std::string version, Pauses& pauses, const std::stop_token& stop);
  void Fail(const kubernetes::Refusal& refusal, Pauses& pauses, const std::stop_token& stop);

  const KubeClient& client_;
  const Clock& clock_;
  const PodWatchOptions options_;
  std::atomic<bool> list_soon_ = false;
  /// Shared with the tasks that wait in the executor, which may outlive this object.
  std::shared_ptr<Mailbox> mailbox_;
  std::jthread thread_;  ///< last: it uses the others
};

}  // namespace trainyard::engine
