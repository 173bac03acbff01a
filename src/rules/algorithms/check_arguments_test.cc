#include "rules/algorithms/check_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "rules/algorithms/algorithm.h"

namespace trainyard::algorithms {
namespace {

namespace json = boost::json;
using testing::HasSubstr;

/// The same cases test the trainer's own parser.
json::object ReadCases() {
  std::ifstream file(TRAINYARD_ARGUMENT_CASES);
  std::stringstream text;
  text << file.rdbuf();
  return json::parse(text.str()).as_object();
}

v1::Algorithm Example() { return ParseAlgorithm(json::serialize(ReadCases()["algorithm"])).value(); }

std::string Wrong(const std::vector<std::string>& args, const std::vector<TunedArgument>& tuned = {}) {
  const Status checked = CheckArguments(Example(), args, tuned);
  return checked ? "" : checked.error().field + ": " + checked.error().message;
}

TEST(CheckArguments, AgreesWithTheTrainer) {
  for (const json::value& value : ReadCases()["cases"].as_array()) {
    const auto args = json::value_to<std::vector<std::string>>(value.at("args"));
    const std::string wrong = Wrong(args);
    if (value.at("wrong").is_null())
      EXPECT_EQ(wrong, "") << value;
    else
      EXPECT_THAT(wrong, HasSubstr(std::string(value.at("wrong").as_string()))) << value;
  }
}

TEST(CheckArguments, TellsHowToMendThem) {
  const std::string type = "--model_type=regression";
  EXPECT_EQ(
      Wrong({type, "--max_stps=5"}),
      "args: The algorithm example has no argument --max_stps. Did you mean --max_steps? Its arguments are "
      "--preprocess, --model_type, --max_steps, --learning_rate, --hidden_units, --ratios, --yeo_johnson, "
      "--depth, --path, --num_class, --validation_split, --test_split, --job-dir.");
  EXPECT_EQ(Wrong({type, "--max_steps=x"}),
            "args: --max_steps must be a whole number of at least 1, not 'x'.");
  EXPECT_EQ(Wrong({type, "--learning_rate=2"}),
            "args: --learning_rate must be a number above 0 and at most 1, not '2'.");
  EXPECT_EQ(Wrong({type, "--validation_split=1", "--preprocess"}),
            "args: --validation_split must be a number from 0 to 0.4, not '1'.");
  EXPECT_EQ(Wrong({"--model_type=x"}),
            "args: --model_type must be one of classification and regression, not 'x'.");
  EXPECT_EQ(Wrong({type, "--hidden_units=1,x"}),
            "args: --hidden_units must be whole numbers separated by commas, each of at least 1, not '1,x'.");
  EXPECT_EQ(Wrong({type, "--max_steps"}), "args: --max_steps needs a value: a whole number of at least 1.");
  EXPECT_EQ(Wrong({}), "args: The algorithm example needs --model_type: What is learned.");
  EXPECT_EQ(Wrong({"--model_type=classification"}), "args: --model_type=classification needs --num_class.");
  EXPECT_EQ(Wrong({type, "--preprocess", "--validation_split=0.3"}),
            "args: --validation_split=0.3 and --test_split=0.2 (default) are 0.5 together: at most 0.4.");
  EXPECT_EQ(Wrong({type, "rows.csv"}),
            "args: 'rows.csv' is not an argument of example: arguments are --NAME=VALUE or --NAME VALUE.");
}

TEST(CheckArguments, WhatIsTunedNeedNotBeGiven) {
  EXPECT_EQ(Wrong({}, {{"model_type", {"regression"}}}), "");
  EXPECT_EQ(Wrong({"--model_type=regression"}, {{"eta", {"0.1", "1"}}}), "");
  EXPECT_EQ(Wrong({"--model_type=regression"}, {{"max_steps", {"1", "5"}}, {"eta", {"0", "1"}}}),
            "hyperparameters.params[1]: --learning_rate must be a number above 0 and at most 1, not '0'.");
  EXPECT_THAT(Wrong({"--model_type=regression", "--preprocess"}, {{"validation_split", {"0.1", "0.3"}}}),
              HasSubstr("0.5 together: at most 0.4"));
  EXPECT_THAT(
      Wrong({"--model_type=regression"}, {{"rate", {"0"}}}),
      testing::StartsWith("hyperparameters.params[0].parameter_name: The algorithm example has no argument "
                          "--rate."));
}

}  // namespace
}  // namespace trainyard::algorithms
