// JSON bodies of jobs, objects and log entries: what is read prints and reads back as the same message; a
// refusal has a reason.
#include <google/protobuf/util/message_differencer.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/wire/error_body.h"
#include "base/wire/json.h"
#include "trainyard/logging/v2/logging.pb.h"
#include "trainyard/ml/v1/ml.pb.h"
#include "trainyard/storage/v1/storage.pb.h"

namespace {

using trainyard::wire::ParseJson;
using trainyard::wire::PrintJson;

template <class Message>
void Check(std::string_view text) {
  Message message;
  const auto status = ParseJson(text, message, "root");
  if (!status) {
    TY_CHECK(!status.error().violations.empty());
    TY_CHECK(!trainyard::wire::PrintErrorBody(status.error()).empty());
    return;
  }
  Message again;
  TY_CHECK(ParseJson(PrintJson(message), again).has_value());
  google::protobuf::util::MessageDifferencer differencer;
  google::protobuf::util::DefaultFieldComparator comparator;
  comparator.set_treat_nan_as_equal(true);
  differencer.set_field_comparator(&comparator);
  // A null in a Struct is printed, an unset Value is not.
  TY_CHECK(differencer.Compare(message, again));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Check<trainyard::ml::v1::Job>(text);
  Check<trainyard::storage::v1::Object>(text);
  Check<trainyard::logging::v2::LogEntry>(text);
  Check<trainyard::logging::v2::ListLogEntriesRequest>(text);
  return 0;
}
