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

/// A supervisor's connection, seen from the server. Loop thread only.
class ReplicaLink {
 public:
  virtual ~ReplicaLink() = default;
  /// Queues a frame. Frames sent after the connection was lost are dropped: the supervisor comes back and
  /// says Hello.
  virtual void Send(ToReplica frame) = 0;
  /// Closes the connection; the supervisor connects again.
  virtual void Close() = 0;
};

/// Whoever looks after the attempts. Loop thread only.
class ReplicaLinkObserver {
 public:
  virtual ~ReplicaLinkObserver() = default;
  /// First frame of a connection. An error closes the connection. A newer connection of an attempt replaces
  /// the older one.
  virtual Status OnHello(std::shared_ptr<ReplicaLink> link, const FromReplica::Hello& hello) = 0;
  /// Every other frame, in order; the next one is handed over when this one is done with, and none once the
  /// link was closed.
  virtual boost::asio::awaitable<void> OnFrame(std::shared_ptr<ReplicaLink> link, std::string attempt_id,
                                               FromReplica frame) = 0;
  /// The connection is gone (after OnHello accepted it).
  virtual void OnClosed(const ReplicaLink* link, const std::string& attempt_id) = 0;
};

/// `GET /replica/v1/attach` with `Upgrade: trainyard-replica`: decodes frames for the observer, which
/// outlives the handler. For the supervisors' socket alone; who connects there proves by its Hello whose
/// supervisor it is (the observer checks the token).
[[nodiscard]] http::Handler AttachHandler(ReplicaLinkObserver& observer);

}  // namespace trainyard::engine
