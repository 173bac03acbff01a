#pragma once

#include <memory>

namespace google::protobuf {
class Message;
}

namespace trainyard::wire {

/// A copy that protobuf's JSON mapping can print, for a message that it refuses: times out of range become
/// the nearest valid time, and values of a Struct that are nested too deep to be read again become the text
/// "(nested too deep)". One such value, written by a user's program into its log, must not make a page of
/// entries unreadable. Pure: any thread.
[[nodiscard]] std::unique_ptr<google::protobuf::Message> PrintableCopy(
    const google::protobuf::Message& message);

}  // namespace trainyard::wire
