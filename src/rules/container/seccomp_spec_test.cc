#include "rules/container/oci_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "rules/container/seccomp_filter.h"

namespace trainyard::container {
namespace {

using testing::HasSubstr;

TEST(SeccompSpec, IsWhatRuntimesRead) {
  const auto spec = boost::json::parse(PrintSeccomp());
  EXPECT_EQ(spec.at("defaultAction"), "SCMP_ACT_ERRNO");
  EXPECT_EQ(spec.at("defaultErrnoRet"), 1);
  const auto& rules = spec.at("syscalls").as_array();
  EXPECT_EQ(rules.at(0).at("action"), "SCMP_ACT_ALLOW");
  EXPECT_EQ(rules.at(0).at("names").as_array().size(), NativeCalls().allowed.size());
}

TEST(SeccompSpec, HasTheRulesWithConditions) {
  const std::string text = PrintSeccomp();
  EXPECT_THAT(text, HasSubstr(R"({"names":["clone3"],"action":"SCMP_ACT_ERRNO","errnoRet":38,"args":[]})"));
  EXPECT_THAT(text,
              HasSubstr(R"("args":[{"index":0,"value":2114060288,"valueTwo":0,"op":"SCMP_CMP_MASKED_EQ"}])"));
  EXPECT_THAT(
      text,
      HasSubstr(R"({"index":0,"value":16,"op":"SCMP_CMP_EQ"},{"index":2,"value":9,"op":"SCMP_CMP_NE"})"));
  for (const char* family : {R"("value":17,)", R"("value":40,"op":"SCMP_CMP_EQ")"})
    EXPECT_THAT(text, Not(HasSubstr(family)));
}

TEST(SeccompSpec, EncodesTheWholeFilter) {
  const std::string text = EncodeSeccompFilter();
  const std::size_t bytes = MakeSeccompFilter().size() * sizeof(sock_filter);
  EXPECT_EQ(text.size(), (bytes + 2) / 3 * 4);
  EXPECT_EQ(text.substr(0, 11), "IAAAAAQAAAA")
      << "the first step loads the architecture: 20 00 00 00 04 00 00 00";
}

}  // namespace
}  // namespace trainyard::container
