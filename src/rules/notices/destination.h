#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trainyard/control/v1/record.pb.h"

/// Which notices of jobs are sent where, and what they say. Pure: any thread.
namespace trainyard::notices {

/// What a notice is about.
enum class Event { kSucceeded, kFailed, kCancelled, kWaiting };

/// "succeeded", "failed", "cancelled", "waiting".
[[nodiscard]] std::string_view EventName(Event event);

/// A place to which the operator lets notices be sent.
struct Destination {
  enum class Kind { kWebhook, kMail };
  std::string name;  ///< what a job's label names
  Kind kind = Kind::kWebhook;
  std::string server;                   ///< kWebhook: "https://hooks.example.com:8443"
  std::string target;                   ///< kWebhook: path and query; kMail: the address
  std::set<std::string> projects = {};  ///< only of these; empty: of all
  bool named_only = false;              ///< only of jobs whose label names it
  std::set<Event> events = {Event::kSucceeded, Event::kFailed, Event::kCancelled, Event::kWaiting};
  friend bool operator==(const Destination&, const Destination&) = default;
};

/// The label with which a job names a destination.
inline constexpr std::string_view kLabel = "trainyard-notify";

/// Reads "NAME=URL [projects=P,...] [events=E,...] [jobs=all|named]"; the URL is http, https or
/// mailto:ADDRESS. kInvalidArgument with the reason; the caller sets the field.
[[nodiscard]] Result<Destination> ParseDestination(const std::string& text);
/// The same, added to a list in which no name may be twice.
[[nodiscard]] Status AddDestination(const std::string& text, std::vector<Destination>& list);

/// Whether a notice of this event of the job is sent there.
[[nodiscard]] bool IsWanted(const Destination& destination, const control::v1::JobRecord& job, Event event);

/// Checks that the destination that the job's label names exists and serves the project. kInvalidArgument
/// with field "job.labels".
[[nodiscard]] Status CheckLabel(const std::vector<Destination>& list, const std::string& project,
                                const ml::v1::Job& job);
/// The same for a job that gets the labels of `after`. The label that it has may stay: the operator may have
/// removed the destination meanwhile.
[[nodiscard]] Status CheckNewLabel(const std::vector<Destination>& list, const std::string& project,
                                   const ml::v1::Job& before, const ml::v1::Job& after);

}  // namespace trainyard::notices
