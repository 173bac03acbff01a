#include "replica/supervisor/testing/fake_server.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

#include "base/async/file.h"
#include "base/check.h"
#include "programs/attempt/frame.h"

namespace trainyard::replica {

FakeServer::FakeServer(std::string socket_path, std::shared_ptr<Memory> memory) : memory_(std::move(memory)) {
  unlink(socket_path.c_str());
  listener_.Reset(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  TY_CHECK(socket_path.size() < sizeof(address.sun_path));
  std::strcpy(address.sun_path, socket_path.c_str());
  TY_CHECK(bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  TY_CHECK(listen(listener_.get(), 64) == 0);
  acceptor_ = std::thread([this] { Accept(); });
}

FakeServer::~FakeServer() {
  shutdown(listener_.get(), SHUT_RDWR);
  acceptor_.join();
  {
    const std::scoped_lock lock(memory_->mutex);
    for (const int connection : open_) shutdown(connection, SHUT_RDWR);
  }
  for (std::thread& connection : connections_) connection.join();
  for (const int connection : open_) close(connection);
}

void FakeServer::Accept() {
  for (;;) {
    const int connection = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    const std::scoped_lock lock(memory_->mutex);
    ++memory_->connections;
    open_.push_back(connection);
    connections_.emplace_back([this, connection] { Serve(connection); });
  }
}

void FakeServer::Serve(int connection) {
  std::string head;
  std::array<char, 4096> buffer{};
  std::size_t end = std::string::npos;
  while ((end = head.find("\r\n\r\n")) == std::string::npos) {
    const ssize_t size = recv(connection, buffer.data(), buffer.size(), 0);
    if (size <= 0) return;
    head.append(buffer.data(), static_cast<std::size_t>(size));
  }
  if (head.starts_with("POST /upload/")) return TakeUpload(connection, std::move(head), end + 4);
  const std::string_view target = std::string_view(head).substr(4, head.find(' ', 4) - 4);
  if (target == "/replica/v1/attach") {
    Attach(connection, std::string_view(head).substr(end + 4));
  } else {
    SendObject(connection, target);
  }
}

void FakeServer::SendObject(int connection, std::string_view target) {
  const std::scoped_lock lock(memory_->mutex);
  std::string answer = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
  for (const auto& [name, content] : memory_->objects) {
    const std::size_t slash = name.find('/');
    if (target != "/storage/v1/b/" + name.substr(0, slash) + "/o/" + name.substr(slash + 1) + "?alt=media")
      continue;
    answer = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(content.size()) + "\r\n\r\n" + content;
  }
  send(connection, answer.data(), answer.size(), MSG_NOSIGNAL);
  shutdown(connection, SHUT_WR);
}

/// Reads the whole body. The connection ends with the answer.
void FakeServer::TakeUpload(int connection, std::string head, std::size_t body) {
  constexpr std::string_view kLength = "Content-Length: ";
  constexpr std::string_view kFolder = "POST /upload/storage/v1/";
  constexpr std::string_view kName = "?uploadType=media&name=";
  const std::size_t wanted = body + std::stoul(head.substr(head.find(kLength) + kLength.size()));
  std::array<char, 4096> buffer{};
  while (head.size() < wanted) {
    const ssize_t size = recv(connection, buffer.data(), buffer.size(), 0);
    if (size <= 0) return;
    head.append(buffer.data(), static_cast<std::size_t>(size));
  }
  std::string name = head.substr(kFolder.size(), head.find(" HTTP/") - kFolder.size());
  name.replace(name.find(kName), kName.size(), " ");
  const std::scoped_lock lock(memory_->mutex);
  memory_->changed.notify_all();
  if (memory_->holds_uploads) {
    memory_->uploads[name] = "held";
    return;
  }
  std::string answer = "HTTP/1.1 200 OK\r\n";
  std::string content = "{}";
  if (memory_->upload_refusal.empty())
    memory_->uploads[name] = head.substr(body);
  else {
    answer = "HTTP/1.1 507 Insufficient Storage\r\n";
    content = R"({"error": {"code": 507, "message": ")" + memory_->upload_refusal + R"("}})";
  }
  answer += "Connection: close\r\nContent-Type: application/json\r\nContent-Length: " +
            std::to_string(content.size()) + "\r\n\r\n" + content;
  send(connection, answer.data(), answer.size(), MSG_NOSIGNAL);
  shutdown(connection, SHUT_WR);
}

void FakeServer::Attach(int connection, std::string_view rest) {
  const std::string switching =
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: trainyard-replica\r\n\r\n";
  {
    const std::scoped_lock lock(memory_->mutex);
    send(connection, switching.data(), switching.size(), MSG_NOSIGNAL);
    attached_ = connection;
  }
  FrameReader frames;
  frames.Feed(rest);
  std::array<char, 64 << 10> buffer{};
  for (;;) {
    std::string_view content;
    while (frames.Next(content).value_or(false)) {
      v1::FromReplica frame;
      const std::scoped_lock lock(memory_->mutex);
      if (!frame.ParseFromString(std::string(content))) memory_->problems.emplace_back("garbage");
      Take(connection, frame);
    }
    const ssize_t size = recv(connection, buffer.data(), buffer.size(), 0);
    if (size <= 0) break;
    frames.Feed({buffer.data(), static_cast<std::size_t>(size)});
  }
  const std::scoped_lock lock(memory_->mutex);
  if (attached_ == connection) attached_ = -1;
}

void FakeServer::Take(int connection, const v1::FromReplica& frame) {
  if (connection != attached_) return;
  if (!frame.has_log()) {
    memory_->frames.push_back(frame);
    memory_->changed.notify_all();
    return;
  }
  const auto next_line = static_cast<std::int64_t>(memory_->lines.size());
  v1::LogLines lines;
  if (!memory_->acknowledges) return;
  if (!lines.ParseFromString(frame.log().lines())) memory_->problems.emplace_back("garbage in a chunk");
  if (frame.log().first_line() > next_line)
    memory_->problems.push_back("gap before line " + std::to_string(frame.log().first_line()));
  for (std::int64_t i = next_line - frame.log().first_line(); i < lines.line_size(); ++i) {
    memory_->lines.push_back(lines.line(static_cast<int>(i)));
  }
  v1::ToReplica ack;
  ack.mutable_log_ack()->set_next_line(static_cast<std::int64_t>(memory_->lines.size()));
  std::string bytes;
  AppendFrame(ack, bytes);
  send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  memory_->changed.notify_all();
}

void FakeServer::Send(const v1::ToReplica& frame) {
  std::string bytes;
  AppendFrame(frame, bytes);
  const std::scoped_lock lock(memory_->mutex);
  if (attached_ >= 0) send(attached_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

void FakeServer::CutConnection() {
  const std::scoped_lock lock(memory_->mutex);
  if (attached_ >= 0) shutdown(attached_, SHUT_RDWR);
  attached_ = -1;  // data that it has sent but we have not read is lost
}

void FakeServer::Acknowledge(bool acknowledges) {
  {
    const std::scoped_lock lock(memory_->mutex);
    memory_->acknowledges = acknowledges;
  }
  CutConnection();
}

bool FakeServer::WaitFor(const std::function<bool(const Memory&)>& condition) {
  std::unique_lock lock(memory_->mutex);
  return memory_->changed.wait_for(lock, std::chrono::seconds(20), [&] { return condition(*memory_); });
}

}  // namespace trainyard::replica
