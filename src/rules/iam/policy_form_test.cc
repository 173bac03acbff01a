#include "rules/iam/policy_form.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

namespace trainyard::iam {
namespace {

using v1::Policy;
using v1::SetIamPolicyRequest;

template <class Message>
Message Read(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

std::string Text(const Policy& policy) { return policy.ShortDebugString(); }

constexpr const char* kViewer = "bindings { role: 'roles/ml.viewer' members: 'user:a@b.c' }";
constexpr const char* kConditional =
    "bindings { role: 'roles/ml.viewer' members: 'user:a@b.c' condition { expression: 'request.time < x' } }";

struct Row {
  const char* name;
  std::string stored;          ///< text format
  std::string request;         ///< text format
  std::string after;           ///< text format, or the error's field
  Code code = Code::kUnknown;  ///< of the error
};

class PolicySet : public testing::TestWithParam<Row> {};

TEST_P(PolicySet, Decides) {
  const Row& row = GetParam();
  const Result<Policy> after = PolicyAfter(Read<Policy>(row.stored), Read<SetIamPolicyRequest>(row.request));
  if (row.code == Code::kUnknown) {
    ASSERT_TRUE(after) << after.error().message;
    EXPECT_EQ(Text(*after), Text(Read<Policy>(row.after)));
  } else {
    ASSERT_FALSE(after) << Text(*after);
    EXPECT_EQ(after.error().code, row.code);
    EXPECT_EQ(after.error().field, row.after);
  }
}

std::string Set(const std::string& policy, const std::string& mask = "") {
  return "policy { " + policy + " } " + (mask.empty() ? "" : "update_mask: '" + mask + "'");
}
std::string Members(int count) {
  std::string text = "bindings { role: 'roles/ml.viewer' ";
  for (int i = 0; i < count; ++i) text += "members: 'user:" + std::to_string(i) + "@b.c' ";
  return text + "}";
}
std::string Member(const std::string& member) {
  return "bindings { role: 'roles/ml.viewer' members: '" + member + "' }";
}
constexpr Code kInvalid = Code::kInvalidArgument;

INSTANTIATE_TEST_SUITE_P(
    Rules, PolicySet,
    testing::Values(
        Row{"first", "etag: 'e'", Set(kViewer), std::string("etag: 'e' version: 1 ") + kViewer},
        Row{"with_etag", "etag: 'e'", Set(std::string("etag: 'e' ") + kViewer),
            std::string("etag: 'e' version: 1 ") + kViewer},
        Row{"wrong_etag", "etag: 'e'", Set(std::string("etag: 'f' ") + kViewer), "policy.etag",
            Code::kAborted},
        Row{"etag_not_in_mask", "etag: 'e'", Set(std::string("etag: 'f' ") + kViewer, "bindings"),
            std::string("etag: 'e' version: 1 ") + kViewer},
        Row{"etag_alone", std::string("etag: 'e' ") + kViewer, Set("etag: 'e'", "etag"),
            std::string("etag: 'e' version: 1 ") + kViewer},
        Row{"emptied", std::string("etag: 'e' ") + kViewer, Set(""), "etag: 'e' version: 1"},
        Row{"audit_is_not_in_the_default_mask", "audit_configs { service: 'a' }",
            Set("audit_configs { service: 'b' }"), "version: 1 audit_configs { service: 'a' }"},
        Row{"audit", "", Set("audit_configs { service: 'b' }", "auditConfigs"),
            "version: 1 audit_configs { service: 'b' }"},
        Row{"conditions", "", Set(std::string("version: 3 ") + kConditional),
            std::string("version: 3 ") + kConditional},
        Row{"conditions_without_version", "", Set(kConditional), "policy.version", kInvalid},
        Row{"conditions_removed_blindly", std::string("etag: 'e' ") + kConditional, Set(kViewer),
            std::string("etag: 'e' version: 1 ") + kViewer},
        Row{"conditions_removed_by_an_old_client", std::string("etag: 'e' ") + kConditional,
            Set(std::string("etag: 'e' ") + kViewer), "policy.version", kInvalid},
        Row{"conditions_removed", std::string("etag: 'e' ") + kConditional,
            Set(std::string("version: 3 etag: 'e' ") + kViewer),
            std::string("etag: 'e' version: 1 ") + kViewer},
        Row{"version_2", "", Set("version: 2"), "policy.version", kInvalid},
        Row{"version_4", "", Set("version: 4"), "policy.version", kInvalid},
        Row{"negative_version", "", Set("version: -1"), "policy.version", kInvalid},
        Row{"unknown_in_mask", "", Set("", "bindings, members"), "update_mask", kInvalid},
        Row{"no_role", "", Set("bindings { members: 'allUsers' }"), "policy.bindings[0].role", kInvalid},
        Row{"bad_role", "", Set("bindings { role: 'viewer' members: 'allUsers' }"), "policy.bindings[0].role",
            kInvalid},
        Row{"role_of_a_project", "", Set("bindings { role: 'projects/p/roles/r' members: 'allUsers' }"),
            "version: 1 bindings { role: 'projects/p/roles/r' members: 'allUsers' }"},
        Row{"no_members", "", Set(std::string(kViewer) + "bindings { role: 'roles/r' }"),
            "policy.bindings[1].members", kInvalid},
        Row{"member_without_kind", "", Set(Member("a@b.c")), "policy.bindings[0].members", kInvalid},
        Row{"member_of_unknown_kind", "", Set(Member("robot:a")), "policy.bindings[0].members", kInvalid},
        Row{"member_without_name", "", Set(Member("user:")), "policy.bindings[0].members", kInvalid},
        Row{"principal", "", Set(Member("principal://iam.googleapis.com/x")),
            "version: 1 " + Member("principal://iam.googleapis.com/x")},
        Row{"empty_condition", "",
            Set("version: 3 bindings { role: 'roles/r' members: 'allUsers' condition {} }"),
            "policy.bindings[0].condition", kInvalid},
        Row{"most_members", "", Set(Members(1500)), "version: 1 " + Members(1500)},
        Row{"too_many_members", "", Set(Members(1501)), "policy.bindings", kInvalid}),
    [](const auto& row) { return row.param.name; });

TEST(PolicyAtVersionTest, HidesConditionsFromWhoDoesNotKnowThem) {
  const Policy stored = Read<Policy>(std::string("version: 3 ") + kConditional + Member("allUsers"));
  EXPECT_EQ(Text(PolicyAtVersion(stored, 3).value()), Text(stored));
  for (const int version : {0, 1}) {
    const Policy shown = PolicyAtVersion(stored, version).value();
    EXPECT_EQ(shown.version(), 1);
    EXPECT_TRUE(shown.bindings(0).role().starts_with("roles/ml.viewer_withcond_")) << Text(shown);
    EXPECT_FALSE(shown.bindings(0).has_condition());
    EXPECT_EQ(shown.bindings(1).role(), "roles/ml.viewer");
  }
  const Policy plain = Read<Policy>(std::string("version: 1 ") + kViewer);
  for (const int version : {0, 1, 3}) EXPECT_EQ(Text(PolicyAtVersion(plain, version).value()), Text(plain));
  for (const std::int64_t bad : {-1L, 2L, 4L, 1L << 40}) {
    EXPECT_EQ(PolicyAtVersion(plain, bad).error().field, "options.requested_policy_version");
  }
}

TEST(NoPolicyTest, IsEmptyButHasAnEtag) { EXPECT_EQ(NoPolicy().etag(), std::string("\0 \1", 3)); }

TEST(CheckPermissionNamesTest, WantsWholeNames) {
  v1::TestIamPermissionsRequest request;
  EXPECT_TRUE(CheckPermissionNames(request));
  for (const char* name : {"ml.jobs.get", "ml.models.get", "ml.jobs.get", "a.b"})
    request.add_permissions(name);
  EXPECT_TRUE(CheckPermissionNames(request));
  for (const char* bad : {"*", "ml.jobs.*", "", "ml", ".ml.jobs", "ml..jobs", "ml.jobs.", "ml jobs.get"}) {
    v1::TestIamPermissionsRequest with_bad = request;
    with_bad.add_permissions(bad);
    const Status checked = CheckPermissionNames(with_bad);
    ASSERT_FALSE(checked) << bad;
    EXPECT_EQ(checked.error(), InvalidArgument("permissions", "Permission " + std::string(bad) +
                                                                  " is not valid for this resource."));
  }
}

}  // namespace
}  // namespace trainyard::iam
