#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/http/message.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::engine {

using replica::v1::FromReplica;
using replica::v1::ToReplica;

/// The server's end of a supervisor's connection. Loop thread only.
class ReplicaLink {
 public:
  virtual ~ReplicaLink() = default;
  /// Queues a frame. Frames sent after the connection was lost are dropped: the supervisor reconnects and
  /// sends Hello.
  virtual void Send(ToReplica frame) = 0;
  /// Closes the connection; the supervisor connects again.
  virtual void Close() = 0;
};

/// Implemented by the code that manages attempts. Loop thread only.
class ReplicaLinkObserver {
 public:
  virtual ~ReplicaLinkObserver() = default;
  /// Called with the first frame of a connection. An error closes the connection. A newer connection of an
  /// attempt replaces the older one.
  virtual Status OnHello(std::shared_ptr<ReplicaLink> link, const FromReplica::Hello& hello) = 0;
  /// Called with every other frame, in order: the next one after this call has returned, and none after the
  /// link was closed.
  virtual boost::asio::awaitable<void> OnFrame(std::shared_ptr<ReplicaLink> link, std::string attempt_id,
                                               FromReplica frame) = 0;
  /// Called when a connection that OnHello accepted is closed.
  virtual void OnClosed(const ReplicaLink* link, const std::string& attempt_id) = 0;
};

/// `GET /replica/v1/attach` with `Upgrade: trainyard-replica`: decodes frames for the observer, which
/// outlives the handler. Only for the supervisors' socket. The Hello of a connection has to prove which
/// attempt it belongs to (the observer checks the token).
[[nodiscard]] http::Handler AttachHandler(ReplicaLinkObserver& observer);

}  // namespace trainyard::engine
