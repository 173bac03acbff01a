#include "replica/supervisor/server_link.h"

#include <poll.h>
#include <sys/inotify.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "base/async/file.h"
#include "base/async/unix_socket.h"

namespace trainyard::replica {

namespace {

constexpr int kSwitchingProtocols = 101;

}  // namespace

ServerLink::ServerLink(std::string socket_path, std::string token, Observer& observer)
    : socket_path_(std::move(socket_path)), token_(std::move(token)), observer_(observer) {}

short ServerLink::events() const noexcept {
  return static_cast<short>(out_.empty() ? POLLIN : POLLIN | POLLOUT);
}

SteadyTime ServerLink::deadline() const noexcept {
  switch (state_) {
    case State::kIdle: return next_try_;
    case State::kUpgrading: return upgrade_deadline_;
    case State::kAttached: return SteadyTime::max();
  }
  return SteadyTime::max();
}

void ServerLink::Step(SteadyTime now) {
  if (state_ == State::kIdle && now >= next_try_) Connect(now);
  if (state_ == State::kUpgrading && now >= upgrade_deadline_) Lose(now);
}

void ServerLink::WatchFolder() {
  if (folder_watch_) return;
  UniqueFd watch(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  const std::string folder = FolderOf(socket_path_);
  if (watch && inotify_add_watch(watch.get(), folder.c_str(), IN_CREATE | IN_MOVED_TO | IN_ONLYDIR) >= 0) {
    folder_watch_ = std::move(watch);
  }
}

void ServerLink::Connect(SteadyTime now) {
  auto socket = ConnectUnix(socket_path_, SOCK_NONBLOCK);
  if (!socket) {
    WatchFolder();  // the socket may have been created just before the watch: the timer notices that
    next_try_ = now + pause_;
    pause_ = std::min(pause_ * 2, kReconnectPauseMax);
    return;
  }
  folder_watch_.Reset();
  socket_ = std::move(*socket);
  state_ = State::kUpgrading;
  upgrade_deadline_ = now + kUpgradeWaitMax;
  upgrade_ = http::ResponseReader();
  frames_ = {};
  out_ =
      "GET /replica/v1/attach HTTP/1.1\r\nHost: trainyard\r\nConnection: Upgrade\r\nUpgrade: "
      "trainyard-replica\r\n"
      "Authorization: Bearer " +
      token_ + "\r\n\r\n";
  if (!Write()) Lose(now);
}

void ServerLink::OnFolderChanged(SteadyTime now) {
  alignas(inotify_event) std::array<char, 4096> events{};
  while (read(folder_watch_.get(), events.data(), events.size()) > 0) {
  }
  pause_ = kReconnectPauseMin;
  next_try_ = now;
}

void ServerLink::Lose(SteadyTime now) {
  const bool was_attached = state_ == State::kAttached;
  socket_.Reset();
  out_.clear();
  state_ = State::kIdle;
  next_try_ = now + pause_;
  pause_ = std::min(pause_ * 2, kReconnectPauseMax);
  if (was_attached) observer_.OnLost();
}

void ServerLink::OnReady(short events, SteadyTime now) {
  bool alive = true;
  if ((events & POLLOUT) != 0) alive = Write();
  if (alive && (events & (POLLIN | POLLHUP | POLLERR)) != 0) alive = Read();
  if (!alive) Lose(now);
}

bool ServerLink::Write() {
  std::size_t done = 0;
  while (done < out_.size()) {
    const ssize_t sent =
        send(socket_.get(), out_.data() + done, out_.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      done += static_cast<std::size_t>(sent);
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      return false;
    }
  }
  out_.erase(0, done);
  return true;
}

bool ServerLink::Read() {
  std::array<char, 16 << 10> buffer;  // NOLINT(*-member-init): filled by recv
  const ssize_t size = recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size < 0) return errno == EAGAIN || errno == EINTR;
  if (size == 0) return false;
  const std::string_view bytes(buffer.data(), static_cast<std::size_t>(size));
  if (state_ == State::kAttached) {
    frames_.Feed(bytes);
    return TakeFrames();
  }
  return TakeUpgrade(bytes);
}

bool ServerLink::TakeUpgrade(std::string_view bytes) {
  const auto used = upgrade_.Feed(bytes, [](std::string_view) { return Status(); });
  if (!used) return false;
  if (!upgrade_.has_head()) return true;
  if (upgrade_.head().status != kSwitchingProtocols) return false;
  frames_.Feed(bytes.substr(*used));
  state_ = State::kAttached;
  observer_.OnAttached();
  return TakeFrames();
}

bool ServerLink::TakeFrames() {
  v1::ToReplica frame;
  std::string_view content;
  while (state_ == State::kAttached) {
    const Result<bool> next = frames_.Next(content);
    if (!next) return false;
    if (!*next) break;
    if (!frame.ParseFromArray(content.data(), static_cast<int>(content.size()))) return false;
    pause_ = kReconnectPauseMin;  // not earlier: a server that accepts and closes is retried slowly
    observer_.OnFrame(frame);
  }
  return true;
}

void ServerLink::Send(const v1::FromReplica& frame) {
  if (attached()) AppendFrame(frame, out_);
}

void ServerLink::SendLog(std::string_view chunk) {
  if (attached()) AppendLogFrame(chunk, out_);
}

}  // namespace trainyard::replica
