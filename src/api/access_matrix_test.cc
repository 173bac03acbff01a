#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "api/route.h"
#include "rules/iam/policy_index.h"
#include "rules/iam/refusal.h"
#include "rules/iam/roles.h"
#include "rules/iam/testing/expected_access.h"

// Every route x every role x own, other projects' and absent resources: compares the outcome by the tables
// with a list that was written independently of them.
namespace trainyard::iam {
namespace {

using testing::ExpectedAccess;
using testing::ExpectedRoutes;
using testing::Where;

const std::string kAnn = "user:ann@example.com";

/// kAllowed: the handler runs; it may still find nothing there.
enum class Outcome { kAllowed, kUnauthenticated, kForbidden, kNotFound };

std::ostream& operator<<(std::ostream& out, Outcome outcome) {
  constexpr const char* kNames[] = {"allowed", "401", "403", "404"};
  return out << kNames[static_cast<int>(outcome)];
}

/// The owner of the requested resource. Ann's role is bound on project "own" (or on the installation); she
/// has no rights on project "other".
enum class Place { kOwn, kAbsentInOwn, kOther, kAbsentInOther };
constexpr Place kPlaces[] = {Place::kOwn, Place::kAbsentInOwn, Place::kOther, Place::kAbsentInOther};
enum class Bound { kNowhere, kProject, kInstallation };

bool IsInOwn(Place place) { return place == Place::kOwn || place == Place::kAbsentInOwn; }

std::set<std::string> Words(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::set<std::string> words;
  for (std::string word; in >> word;) words.insert(word);
  return words;
}

std::vector<std::string> Lines(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

struct Expected {
  Where where;
  std::set<std::string> roles;
};

const std::map<std::string, Expected>& ByRoute() {
  static const auto kMap = [] {
    std::map<std::string, Expected> map;
    for (const ExpectedAccess& expected : ExpectedRoutes())
      for (const std::string& route : Lines(expected.routes)) {
        EXPECT_TRUE(map.emplace(route, Expected{expected.where, Words(expected.roles)}).second)
            << route << " is there twice";
      }
    return map;
  }();
  return kMap;
}

// --- from the tables
// -------------------------------------------------------------------------------------------

std::optional<Resource> ResourceOf(const MethodRule& rule, Place place) {
  const std::string project = IsInOwn(place) ? "own" : "other";
  if (rule.access == Access::kInHandler) {
    return rule.permission.starts_with("trainyard.tokens.") ? Resource::Installation()
                                                            : Resource::Project(project);
  }
  switch (rule.scope) {
    case Scope::kInstallation: return Resource::Installation();
    case Scope::kProject:
    case Scope::kQueryProject: return Resource::Project(project);
    case Scope::kJob: return Resource::Job(project, "j");
    case Scope::kBucket: return Resource::Bucket("b");
    case Scope::kServiceAccount: return Resource::ServiceAccount(project, "t@own.iam.gserviceaccount.com");
  }
  return std::nullopt;
}

/// A permission that a handler accepts instead of the table's: a caller who may see a job may read its log.
std::string_view AlsoEnough(const MethodRule& rule) {
  return rule.route.contains("/jobs/{job}/log:") ? "ml.jobs.get" : "";
}

struct Policies {
  PolicyIndex installation;
  PolicyIndex own;
};

Policies PoliciesFor(const Role& role, Bound bound) {
  v1::Policy policy;
  v1::Binding& binding = *policy.add_bindings();
  binding.set_role(std::string(role.name));
  binding.add_members(kAnn);
  Policies policies;
  if (bound == Bound::kInstallation) policies.installation = PolicyIndex(policy);
  if (bound == Bound::kProject) policies.own = PolicyIndex(policy);
  return policies;
}

Outcome ByTables(const MethodRule& rule, const Policies& policies, Place place) {
  if (rule.access == Access::kPublic || rule.access == Access::kAuthenticated) return Outcome::kAllowed;
  const Resource resource = *ResourceOf(rule, place);
  const auto nobody = [](std::string_view, std::string_view) { return false; };
  std::vector<const PolicyIndex*> above{&policies.installation};
  if (resource.kind != Resource::Kind::kInstallation && IsInOwn(place)) above.push_back(&policies.own);
  bool grants = false;
  bool knows = false;
  for (const PolicyIndex* policy : above) {
    grants = grants || policy->Grants(kAnn, rule.permission, nobody) ||
             policy->Grants(kAnn, AlsoEnough(rule), nobody);
    knows = knows || policy->Knows(kAnn, nobody);
  }
  if (grants) return Outcome::kAllowed;
  const Error refusal = Refusal(kAnn, rule.permission, resource, knows);
  return refusal.code == Code::kNotFound ? Outcome::kNotFound : Outcome::kForbidden;
}

// --- from the list
// ---------------------------------------------------------------------------------------------

Outcome ByList(const Expected& expected, const std::string& role, Bound bound, Place place,
               const std::string& route) {
  if (expected.where == Where::kNobodyAsked || expected.where == Where::kLoggedIn) return Outcome::kAllowed;
  const bool may = role == "trainyard.admin" || expected.roles.contains(role);
  const bool of_installation =
      expected.where == Where::kInstallation || route.find("/trainyard/v1/tokens") != std::string::npos;
  const bool reaches =
      bound == Bound::kInstallation || (bound == Bound::kProject && IsInOwn(place) && !of_installation);
  if (may && reaches) return Outcome::kAllowed;
  const bool is_hidden = expected.where == Where::kJob || expected.where == Where::kBucket ||
                         expected.where == Where::kServiceAccount;
  return is_hidden && !reaches ? Outcome::kNotFound : Outcome::kForbidden;
}

TEST(AccessMatrix, TheListHasEveryRouteAndNoOther) {
  for (const MethodRule& rule : api::Methods().rules())
    EXPECT_TRUE(ByRoute().contains(std::string(rule.route))) << rule.route << " is not in the list";
  for (const auto& [route, expected] : ByRoute()) EXPECT_NE(api::Methods().Find(route), nullptr) << route;
  EXPECT_EQ(ByRoute().size(), api::Methods().rules().size());
}

TEST(AccessMatrix, TheListNamesRoles) {
  for (const ExpectedAccess& expected : ExpectedRoutes())
    for (const std::string& role : Words(expected.roles))
      EXPECT_NE(FindRole("roles/" + role), nullptr) << role;
}

TEST(AccessMatrix, TablesAndListAgree) {
  int compared = 0;
  for (const Role& role : Roles()) {
    const std::string name(role.name.substr(std::string_view("roles/").size()));
    for (const Bound bound : {Bound::kNowhere, Bound::kProject, Bound::kInstallation}) {
      const Policies policies = PoliciesFor(role, bound);
      for (const MethodRule& rule : api::Methods().rules()) {
        const std::string route(rule.route);
        const auto expected = ByRoute().find(route);
        if (expected == ByRoute().end()) continue;  // reported by TheListHasEveryRouteAndNoOther
        for (const Place place : kPlaces) {
          ++compared;
          EXPECT_EQ(ByTables(rule, policies, place), ByList(expected->second, name, bound, place, route))
              << name << (bound == Bound::kProject ? " on own: " : ": ") << route << ", place "
              << static_cast<int>(place);
        }
      }
    }
  }
  EXPECT_GT(compared, 30 * 130 * 4);
}

TEST(AccessMatrix, WithoutACredentialOnlyWhatNobodyAsksForIsAnswered) {
  const auto answer = [](const MethodRule& rule) {
    if (rule.access == Access::kPublic) return Outcome::kAllowed;
    return NotLoggedIn(rule.permission).code == Code::kUnauthenticated ? Outcome::kUnauthenticated
                                                                       : Outcome::kAllowed;
  };
  for (const auto& [route, expected] : ByRoute()) {
    const bool is_open = expected.where == Where::kNobodyAsked;
    EXPECT_EQ(answer(*api::Methods().Find(route)), is_open ? Outcome::kAllowed : Outcome::kUnauthenticated)
        << route;
  }
}

TEST(AccessMatrix, RoutesAreDecidedWhereTheListSays) {
  const std::map<Scope, Where> where{{Scope::kInstallation, Where::kInstallation},
                                     {Scope::kProject, Where::kProject},
                                     {Scope::kQueryProject, Where::kProject},
                                     {Scope::kJob, Where::kJob},
                                     {Scope::kBucket, Where::kBucket},
                                     {Scope::kServiceAccount, Where::kServiceAccount}};
  const std::map<Access, Where> other{{Access::kPublic, Where::kNobodyAsked},
                                      {Access::kAuthenticated, Where::kLoggedIn},
                                      {Access::kInHandler, Where::kInHandler}};
  for (const MethodRule& rule : api::Methods().rules()) {
    const Where decided = rule.access == Access::kPermission ? where.at(rule.scope) : other.at(rule.access);
    EXPECT_EQ(static_cast<int>(decided), static_cast<int>(ByRoute().at(std::string(rule.route)).where))
        << rule.route;
  }
}

TEST(RoleTable, HasWhatTheOriginalsPagesSay) {
  for (const testing::ExpectedRole& expected : testing::ExpectedRoles()) {
    const Role* role = FindRole("roles/" + std::string(expected.role));
    ASSERT_NE(role, nullptr) << expected.role;
    std::set<std::string> has;
    for (const std::string_view permission : role->permissions) {
      const auto is_in = [&](std::string_view family) { return permission.starts_with(family); };
      if (std::ranges::any_of(testing::kFamilies, is_in)) has.emplace(permission);
    }
    EXPECT_EQ(has, Words(expected.permissions)) << expected.role;
  }
}

}  // namespace
}  // namespace trainyard::iam
