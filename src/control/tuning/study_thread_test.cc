#include "control/tuning/study_thread.h"

#include <gmock/gmock.h>

#include "engine/testing/loop.h"

namespace trainyard::control {
namespace {

class StudyThreadTest : public testing::Test {
 protected:
  static tuning::StudySpec Spec() {
    return {.space = {.parameters = {{.name = "x", .max = 1, .discrete = {}, .categories = {}}}},
            .metrics = {{.name = "accuracy", .maximize = true}}};
  }

  engine::Loop loop_;
  boost::asio::thread_pool pool_{1};
  StudyThread study_{pool_, Spec()};
};

TEST_F(StudyThreadTest, KnowsWhatWasPutBeforeItIsAsked) {
  study_.PutTrial(0, {.id = 1, .point = {0.5}, .values = {}, .curve = {}});
  const auto points = loop_.Run(study_.Suggest(2));
  ASSERT_TRUE(points);
  EXPECT_EQ(points->size(), 2U);
  EXPECT_EQ(loop_.Run(study_.JudgeTrial(0)).value(), "") << "nobody to compare it with";
}

TEST_F(StudyThreadTest, WhatTheTunerThrowsIsAnErrorOfThatStudy) {
  study_.PutTrial(0, {.id = 1, .point = {0.5}, .values = {}, .curve = {}});
  const auto judged = loop_.Run(study_.JudgeTrial(7));  // there is no such trial
  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().code, Code::kInternal);
  EXPECT_TRUE(loop_.Run(study_.Suggest(1))) << "and the thread goes on";
}

}  // namespace
}  // namespace trainyard::control
