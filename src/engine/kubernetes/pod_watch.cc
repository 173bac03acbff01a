#include "engine/kubernetes/pod_watch.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>
#include <variant>

#include "base/async/guarded.h"
#include "base/async/random_bytes.h"
#include "base/overloaded.h"

namespace trainyard::engine {

namespace {

using kubernetes::Failure;
using kubernetes::Refusal;
using std::chrono::milliseconds;

struct Listed {
  std::vector<kubernetes::Pod> pods;
  SysTime asked_at;
};
struct Failed {
  std::string words;
};
using Message = std::variant<Listed, PodEvent, Failed>;

}  // namespace

/// The pauses after failures. The thread of the watch only.
class PodWatch::Pauses {
 public:
  explicit Pauses(const PodWatchOptions& options) : options_(options), next_(options.pause_min) {}

  void Reset() { next_ = options_.pause_min; }
  /// Waits until the pause is over or `stop` is requested.
  void Wait(milliseconds at_least, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    stopped.wait_for(lock, stop, std::max(at_least, WithJitter(next_)), [] { return false; });
    next_ = std::min(next_ * 2, options_.pause_max);
  }

 private:
  /// Between half of the pause and all of it: servers that lost the API server together come back one by one.
  static milliseconds WithJitter(milliseconds pause) {
    const milliseconds half = pause / 2;
    return half + half * RandomBytes<std::uint16_t>() / 65'535;
  }

  const PodWatchOptions& options_;
  milliseconds next_;
};

/// Messages on their way to the executor.
class PodWatch::Mailbox : public std::enable_shared_from_this<Mailbox> {
 public:
  Mailbox(boost::asio::any_io_executor executor, PodWatchHandlers handlers, std::size_t waiting_max)
      : executor_(std::move(executor)), handlers_(std::move(handlers)), waiting_max_(waiting_max) {}

  /// Any thread. False: too many messages wait; they are dropped, and this one with them.
  bool Send(Message message) {
    bool is_first = false;
    const bool is_taken = waiting_.With([&](std::vector<Message>& waiting) {
      is_first = waiting.empty();
      if (waiting.size() >= waiting_max_) {
        waiting.clear();
        return false;
      }
      waiting.push_back(std::move(message));
      return true;
    });
    if (is_first) boost::asio::post(executor_, [self = shared_from_this()] { self->Deliver(); });
    return is_taken;
  }

  /// The executor's thread.
  void Close() { is_closed_ = true; }

 private:
  void Deliver() {
    std::vector<Message> messages =
        waiting_.With([](std::vector<Message>& waiting) { return std::exchange(waiting, {}); });
    for (Message& message : messages) {
      if (is_closed_) return;  // a handler may stop the watch
      std::visit(Overloaded{[this](Listed& list) { handlers_.on_list(std::move(list.pods), list.asked_at); },
                            [this](PodEvent& event) { handlers_.on_event(std::move(event)); },
                            [this](Failed& failure) { handlers_.on_failed(std::move(failure.words)); }},
                 message);
    }
  }

  boost::asio::any_io_executor executor_;
  PodWatchHandlers handlers_;
  const std::size_t waiting_max_;
  bool is_closed_ = false;  ///< the executor's thread only
  Guarded<std::vector<Message>> waiting_;
};

PodWatch::PodWatch(const KubeClient& client, const Clock& clock, boost::asio::any_io_executor executor,
                   PodWatchOptions options, PodWatchHandlers handlers)
    : client_(client),
      clock_(clock),
      options_(std::move(options)),
      mailbox_(std::make_shared<Mailbox>(std::move(executor), std::move(handlers), options_.waiting_max)),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

PodWatch::~PodWatch() { Stop(); }

void PodWatch::Stop() {
  mailbox_->Close();
  thread_.request_stop();
}

void PodWatch::Run(const std::stop_token& stop) {
  Pauses pauses(options_);
  while (!stop.stop_requested()) {
    list_soon_ = false;
    const SysTime asked_at = clock_.Now();
    KubeAnswer<PodList> list = client_.ListPods(options_.selector);
    if (stop.stop_requested()) return;
    if (!list) {
      Fail(list.error(), pauses, stop);
      continue;
    }
    if (mailbox_->Send(Listed{.pods = std::move(list->pods), .asked_at = asked_at}))
      Watch(std::move(list->version), pauses, stop);
  }
}

void PodWatch::Watch(std::string version, Pauses& pauses, const std::stop_token& stop) {
  bool has_heard = false;  // since the pods were listed
  while (!stop.stop_requested()) {
    bool is_full = false;
    bool is_silent = true;
    const auto on_event = [&](PodEvent event) {
      is_silent = false;
      if (!is_full) is_full = !mailbox_->Send(std::move(event));
    };
    const auto is_over = [&] { return is_full || list_soon_ || stop.stop_requested(); };
    KubeAnswer<std::string> reached = client_.WatchPods(options_.selector, version, on_event, is_over);
    if (is_over()) return;
    if (reached && *reached != version) is_silent = false;
    has_heard = has_heard || !is_silent;
    if (!is_silent) pauses.Reset();
    if (reached) {
      version = *std::move(reached);
      // An API server that ends every watch at once is not asked again at once.
      if (is_silent) pauses.Wait({}, stop);
      continue;
    }
    if (reached.error().failure != Failure::kGone)
      Fail(reached.error(), pauses, stop);
    else if (!has_heard)
      pauses.Wait({}, stop);
    return;
  }
}

void PodWatch::Fail(const Refusal& refusal, Pauses& pauses, const std::stop_token& stop) {
  mailbox_->Send(Failed{.words = refusal.words});
  pauses.Wait(std::chrono::seconds(refusal.retry_after_s), stop);
}

}  // namespace trainyard::engine
