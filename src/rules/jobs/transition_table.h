#pragma once

#include <span>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "trainyard/control/v1/record.pb.h"

/// The stages of a job's life and the table of transitions between them. docs/lifecycle.md shows the same
/// table (a test compares them). Pure: any thread.
namespace trainyard::jobs {

/// Finer than the API's state: it combines the record's state, outcome and retrying. The numbers are
/// docs/lifecycle.md's.
enum class Stage {
  kNone = 0,       ///< no record yet
  kQueued = 1,     ///< API: QUEUED
  kPreparing = 2,  ///< API: PREPARING
  kRunning = 3,    ///< API: RUNNING
  kRetrying =
      4,  ///< all replicas are being stopped, then all start again. API: PREPARING or RUNNING, unchanged
  kFinishing = 5,   ///< succeeded or failed, replicas are being stopped. API: PREPARING or RUNNING, unchanged
  kCancelling = 6,  ///< API: CANCELLING
  kEnded = 7,       ///< API: SUCCEEDED, FAILED, CANCELLED
  kResumed = 8,  ///< only as a target: kPreparing or kRunning, depending on which one the retry interrupted
};

struct Transition {
  Stage from;
  control::v1::Event::KindCase event;
  Stage to;
  bool ignored = false;  ///< accepted and recorded, but changes nothing
};

[[nodiscard]] std::span<const Transition> Transitions();

/// Null: the event cannot happen in that stage.
[[nodiscard]] const Transition* FindTransition(Stage from, control::v1::Event::KindCase event);

[[nodiscard]] Stage StageOf(const control::v1::JobRecord& record);

/// "Preparing".
[[nodiscard]] std::string_view StageName(Stage stage);
/// "ReplicaEnded": the message's name in record.proto.
[[nodiscard]] std::string_view EventName(control::v1::Event::KindCase event);

/// The record after one more event, by the transition table (docs/lifecycle.md). `event` must have its time;
/// its seq becomes record.revision() + 1 (the caller leaves it 0 or sets exactly that). kFailedPrecondition,
/// naming state and event, for a pair that is not in the table. `Created` is applied to an empty record.
/// Pure: any thread.
[[nodiscard]] Result<control::v1::JobRecord> Apply(const control::v1::JobRecord& record,
                                                   const control::v1::Event& event);

}  // namespace trainyard::jobs
