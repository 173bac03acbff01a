#include "stores/identity/project_numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/cluster/project_number.h"

namespace trainyard::identity {
namespace {

using Names = std::set<std::string, std::less<>>;

TEST(ProjectNumbers, AreOnesOwn) {
  ProjectNumbers numbers;
  const ProjectNumber p = numbers.Choose("secret", "p");
  EXPECT_NE(p.number, numbers.Choose("other", "p").number) << "nobody can work them out";
  EXPECT_NE(p.number, cluster::HashedNumber("p"));
  numbers.Keep(p);
  const ProjectNumber again = numbers.Choose("secret", "p");
  EXPECT_NE(again.number, p.number) << "taken";
  numbers.Keep({.project = "q", .number = p.number});
  EXPECT_EQ(numbers.Of("q"), std::nullopt);
  numbers.Keep({.project = "p", .number = 1});
  EXPECT_EQ(numbers.Of("p"), p.number);
  EXPECT_EQ(*numbers.ProjectOf(p.number), "p");
  EXPECT_EQ(numbers.ProjectOf(1), nullptr);
}

TEST(ProjectNumbers, OfAProjectWhoseNameIsOneIsAnother) {
  ProjectNumbers numbers;
  const ProjectNumber victim = numbers.Choose("secret", "victim");
  numbers.Keep(victim);
  numbers.Keep(numbers.Choose("secret", std::to_string(victim.number)));
  EXPECT_NE(numbers.Of(std::to_string(victim.number)), victim.number);

  ProjectNumbers other;
  other.Keep({.project = std::to_string(victim.number), .number = 1});
  EXPECT_NE(other.Choose("secret", "victim").number, victim.number) << "it is a project's name";
}

TEST(ProjectNumbers, FromBeforeStayAsTheyWere) {
  const std::string twin = std::to_string(cluster::HashedNumber("p"));
  ProjectNumbers numbers;
  for (const ProjectNumber& kept : NumbersFromBefore({}, "secret", Names{"p", "q", twin, "473645424018"}))
    numbers.Keep(kept);
  EXPECT_EQ(numbers.Of("p"), cluster::HashedNumber("p"));
  EXPECT_EQ(numbers.Of("q"), cluster::HashedNumber("q"));
  EXPECT_EQ(numbers.Of("473645424018"), 473'645'424'018);
  ASSERT_TRUE(numbers.Of(twin));
  EXPECT_NE(numbers.Of(twin), cluster::HashedNumber("p")) << "the name that is a number gives way";
  EXPECT_THAT(NumbersFromBefore(numbers, "secret", Names{"p", twin}), testing::IsEmpty());
}

}  // namespace
}  // namespace trainyard::identity
