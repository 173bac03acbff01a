#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/async/unique_fd.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

/// The server as seen by one supervisor, for tests: listens on a Unix socket, records what it receives,
/// acknowledges log chunks (unless told not to), serves packages, takes uploads. Its destructor acts like a
/// server's sudden death; the records survive in a Memory.
class FakeServer {
 public:
  /// The data that a server has on disk.
  struct Memory {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<v1::LogLine> lines;
    std::vector<v1::FromReplica> frames;         ///< all except log chunks
    std::vector<std::string> problems;           ///< gaps, garbage: must stay empty
    std::map<std::string, std::string> objects;  ///< "bucket/object" -> content
    std::map<std::string, std::string> uploads;  ///< "b/BUCKET/o NAME", as encoded in the request -> content
    std::string upload_refusal;                  ///< the message of an error 507; empty: stored
    bool holds_uploads = false;                  ///< read, and never answered
    int connections = 0;
    bool acknowledges = true;
  };

  FakeServer(std::string socket_path, std::shared_ptr<Memory> memory);
  ~FakeServer();

  /// Sends to the supervisor that is connected now.
  void Send(const v1::ToReplica& frame);
  /// Cuts the connection, as a network failure does.
  void CutConnection();
  /// Whether log chunks are accepted; a change cuts the connection.
  void Acknowledge(bool acknowledges);
  /// Waits until the condition is true; false after 20 s. Called with the memory locked.
  [[nodiscard]] bool WaitFor(const std::function<bool(const Memory&)>& condition);

 private:
  void Accept();
  void Serve(int connection);
  void Attach(int connection, std::string_view rest);
  void SendObject(int connection, std::string_view target);
  void TakeUpload(int connection, std::string head, std::size_t body);
  void Take(int connection, const v1::FromReplica& frame);

  std::shared_ptr<Memory> memory_;
  UniqueFd listener_;
  int attached_ = -1;  ///< guarded by memory_->mutex
  std::vector<int> open_;
  std::vector<std::thread> connections_;
  std::thread acceptor_;
};

}  // namespace trainyard::replica
