// `fields` selectors, on an answer and on a type: what is selected was in the input, and selecting it again
// changes nothing.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/wire/field_selector.h"
#include "base/wire/json_tree.h"
#include "trainyard/ml/v1/ml.pb.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace wire = trainyard::wire;
  static constexpr std::string_view kAnswer = R"({"jobs": [{"jobId": "a", "labels": {"x": "1", "y.z": "2"},
      "trainingInput": {"args": ["1", "2"], "scheduling": {"maxRunningTime": "1s"}}}, {"jobId": "b"}], "nextPageToken": "t"})";
  auto selector = wire::FieldSelector::Parse({reinterpret_cast<const char*>(data), size});
  if (!selector) {
    TY_CHECK(selector.error().field == "fields");
    return 0;
  }
  const std::string selected = selector->Apply(kAnswer);
  TY_CHECK(selector->Apply(selected) == selected);
  TY_CHECK(wire::CompactJson(selected).size() <= kAnswer.size());
  const auto resolved = selector->Resolve(*trainyard::ml::v1::Job::descriptor());
  if (!resolved) TY_CHECK(!resolved.error().message.empty());
  return 0;
}
