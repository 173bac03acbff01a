#include "rules/iam/policy_index.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>

namespace trainyard::iam {
namespace {

v1::Policy Read(const std::string& text) {
  v1::Policy policy;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &policy)) << text;
  return policy;
}

std::string Binding(const std::string& role, const std::string& member, const std::string& more = "") {
  return "bindings { role: '" + role + "' members: '" + member + "' " + more + " } ";
}

const std::string kAnn = "user:ann@example.com";
const std::string kBob = "user:bob@example.com";

/// Bob owns P, and there are no other owners.
bool BobOwnsP(std::string_view role, std::string_view project) {
  return role == "roles/owner" && project == "P";
}
bool Nobody(std::string_view /*role*/, std::string_view /*project*/) { return false; }

struct Row {
  const char* name;
  std::string policy;     ///< text format
  std::string principal;  ///< whose HasBasicRole is BobOwnsP if it is Bob
  std::string permission;
  bool grants;
  bool knows;
};

class Index : public testing::TestWithParam<Row> {};

TEST_P(Index, Decides) {
  const Row& row = GetParam();
  const PolicyIndex index(Read(row.policy));
  const PolicyIndex::HasBasicRole has = row.principal == kBob ? BobOwnsP : Nobody;
  EXPECT_EQ(index.Grants(row.principal, row.permission, has), row.grants);
  EXPECT_EQ(index.Knows(row.principal, has), row.knows);
}

const std::string kViewer = "roles/ml.viewer";

INSTANTIATE_TEST_SUITE_P(
    Rules, Index,
    testing::Values(
        Row{"empty", "", kAnn, "ml.jobs.get", false, false},
        Row{"has_it", Binding(kViewer, kAnn), kAnn, "ml.jobs.get", true, true},
        Row{"role_has_not", Binding(kViewer, kAnn), kAnn, "ml.jobs.create", false, true},
        Row{"other_member", Binding(kViewer, kAnn), kBob, "ml.jobs.get", false, false},
        Row{"upper_case_member", Binding(kViewer, "user:Ann@Example.com"), kAnn, "ml.jobs.get", true, true},
        Row{"other_kind", Binding(kViewer, "serviceAccount:ann@example.com"), kAnn, "ml.jobs.get", false,
            false},
        Row{"second_role", Binding(kViewer, kAnn) + Binding("roles/storage.objectCreator", kAnn), kAnn,
            "storage.objects.create", true, true},
        Row{"same_role_twice", Binding(kViewer, kAnn) + Binding(kViewer, kAnn), kAnn, "ml.jobs.get", true,
            true},
        Row{"all_users", Binding(kViewer, "allUsers"), kAnn, "ml.jobs.get", true, true},
        Row{"all_who_logged_in", Binding(kViewer, "allAuthenticatedUsers"), kAnn, "ml.jobs.get", true, true},
        Row{"owner_of_the_project", Binding(kViewer, "projectOwner:P"), kBob, "ml.jobs.get", true, true},
        Row{"owner_of_none", Binding(kViewer, "projectOwner:P"), kAnn, "ml.jobs.get", false, false},
        Row{"owner_of_another", Binding(kViewer, "projectOwner:Q"), kBob, "ml.jobs.get", false, false},
        Row{"editor_only", Binding(kViewer, "projectEditor:P"), kBob, "ml.jobs.get", false, false},
        Row{"owner_without_it", Binding(kViewer, "projectOwner:P"), kBob, "ml.jobs.create", false, true},
        Row{"owner_twice",
            Binding(kViewer, "projectOwner:P") + Binding("roles/ml.developer", "projectOwner:P"), kBob,
            "ml.jobs.create", true, true},
        Row{"condition", Binding(kViewer, kAnn, "condition { expression: 'true' }"), kAnn, "ml.jobs.get",
            false, false},
        Row{"empty_condition", Binding(kViewer, kAnn, "condition { }"), kAnn, "ml.jobs.get", false, false},
        Row{"unknown_role", Binding("roles/ml.everything", kAnn), kAnn, "ml.jobs.get", false, false},
        Row{"role_without_permissions", Binding("roles/ml.modelUser", kAnn), kAnn, "ml.jobs.get", false,
            true},
        Row{"group", Binding(kViewer, "group:ann@example.com"), kAnn, "ml.jobs.get", false, false},
        Row{"domain", Binding(kViewer, "domain:example.com"), kAnn, "ml.jobs.get", false, false},
        Row{"deleted", Binding(kViewer, "deleted:user:ann@example.com?uid=1"), kAnn, "ml.jobs.get", false,
            false},
        Row{"unknown_permission", Binding("roles/trainyard.admin", kAnn), kAnn, "ml.jobs.*", false, true}),
    [](const auto& row) { return row.param.name; });

TEST(PolicyIndexTest, BindsTheVeryRoleToTheVeryPrincipal) {
  const PolicyIndex index(Read(Binding("roles/owner", kAnn) + Binding(kViewer, "allUsers")));
  EXPECT_TRUE(index.Binds(kAnn, "roles/owner"));
  EXPECT_FALSE(index.Binds(kAnn, kViewer)) << "that is everybody's";
  EXPECT_FALSE(index.Binds(kBob, "roles/owner"));
}

struct CheckRow {
  const char* name;
  std::string policy;
  std::string field;  ///< empty: accepted
  std::string says = "";
};

class Check : public testing::TestWithParam<CheckRow> {};

TEST_P(Check, Decides) {
  const Status checked = CheckPolicy(Read(GetParam().policy));
  if (GetParam().field.empty()) {
    EXPECT_TRUE(checked) << checked.error().message;
    return;
  }
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, Code::kInvalidArgument);
  EXPECT_EQ(checked.error().field, GetParam().field);
  EXPECT_NE(checked.error().message.find(GetParam().says), std::string::npos) << checked.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Check,
    testing::Values(
        CheckRow{"empty", "", ""},
        CheckRow{"all_kinds",
                 Binding(kViewer, kAnn) + Binding(kViewer, "serviceAccount:t@p.iam.gserviceaccount.com") +
                     Binding(kViewer, "projectViewer:p") + Binding(kViewer, "allUsers") +
                     Binding(kViewer, "allAuthenticatedUsers"),
                 ""},
        CheckRow{"unknown_role", Binding(kViewer, kAnn) + Binding("roles/ml.developr", kAnn),
                 "policy.bindings[1].role", "Do you mean roles/ml.developer?"},
        CheckRow{"role_like_none", Binding("x", kAnn), "policy.bindings[0].role", "gcloud iam roles list"},
        CheckRow{"custom_role", Binding("projects/p/roles/mine", kAnn), "policy.bindings[0].role"},
        CheckRow{"group", Binding(kViewer, "group:g@example.com"), "policy.bindings[0].members", "no groups"},
        CheckRow{"no_project", Binding(kViewer, "projectOwner:"), "policy.bindings[0].members"},
        CheckRow{"no_email", Binding(kViewer, "user:ann"), "policy.bindings[0].members", "user:ann"},
        CheckRow{"condition", Binding(kViewer, kAnn, "condition { expression: 'true' }"),
                 "policy.bindings[0].condition", "not evaluated"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::iam
