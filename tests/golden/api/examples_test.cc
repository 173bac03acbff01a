#include <gtest/gtest.h>

#include "base/wire/json.h"
#include "golden/api/golden_files.h"

namespace trainyard::golden {
namespace {

std::string TestName(const testing::TestParamInfo<std::string>& row) { return row.param; }

class Examples : public testing::TestWithParam<std::string> {};

TEST_P(Examples, AreAcceptedAndExpandAsDocumented) {
  const auto made = Create(ReadGolden("examples", GetParam(), "request.json"));
  ASSERT_TRUE(made) << ResponseText(made);
  ExpectGolden("examples", GetParam(), "response.json", ResponseText(made));
  ExpectGolden("examples", GetParam(), "expansion.txt", ExpansionText(*made));
}

TEST_P(Examples, AreShownAsTheyWereWritten) {
  const auto made = Create(ReadGolden("examples", GetParam(), "request.json"));
  ASSERT_TRUE(made);
  ml::v1::Job again;
  ASSERT_TRUE(wire::ParseJson(ResponseText(made), again, "job"));
  EXPECT_EQ(wire::PrintJson(again), ResponseText(made));
}

INSTANTIATE_TEST_SUITE_P(Golden, Examples, testing::ValuesIn(Names("examples")), TestName);

class Errors : public testing::TestWithParam<std::string> {};

TEST_P(Errors, AreAnsweredWordForWord) {
  const auto made = Create(ReadGolden("errors", GetParam(), "request.json"));
  ASSERT_FALSE(made);
  ExpectGolden("errors", GetParam(), "response.json", ResponseText(made));
}

INSTANTIATE_TEST_SUITE_P(Golden, Errors, testing::ValuesIn(Names("errors")), TestName);

}  // namespace
}  // namespace trainyard::golden
