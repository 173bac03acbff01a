#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

namespace google::protobuf {
class Descriptor;
}

namespace trainyard::conformance {

/// What the message type lacks of a discovery document's schema and of all schemas below it: one line per
/// property, type or enum value, "Job.state: enum value QUEUED is missing". Empty: protobuf's JSON of the
/// message says all that the schema can say.
std::vector<std::string> Differences(const boost::json::object& document, const std::string& schema,
                                     const google::protobuf::Descriptor& type);

}  // namespace trainyard::conformance
