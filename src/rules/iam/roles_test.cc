#include "rules/iam/roles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "rules/iam/role_table.h"

namespace trainyard::iam {
namespace {

TEST(RoleTable, IsSortedAndEachPatternMeansSomething) {
  EXPECT_EQ(std::ranges::adjacent_find(RoleTable(), std::ranges::greater_equal{}, &RoleRow::name),
            RoleTable().end());
  EXPECT_EQ(std::ranges::adjacent_find(PermissionTable(), std::ranges::greater_equal{}),
            PermissionTable().end());
  for (const RoleRow& row : RoleTable()) {
    for (const std::string_view list : {row.includes, row.less}) {
      for (const std::string& text : ReadPermissions(list)) {
        const std::string_view pattern = text;
        const std::string_view stem = pattern.substr(0, pattern.find('*'));
        EXPECT_TRUE(std::ranges::any_of(PermissionTable(),
                                        [&](std::string_view permission) {
                                          return pattern.ends_with('*') ? permission.starts_with(stem)
                                                                        : permission == pattern;
                                        }))
            << row.name << " has " << pattern << ", which is no permission";
        EXPECT_TRUE(pattern == "*" || !pattern.ends_with('*') || pattern.ends_with(".*")) << pattern;
      }
    }
  }
}

TEST(Roles, ArePrintable) {
  for (const Role& role : Roles()) {
    EXPECT_TRUE(role.name.starts_with("roles/")) << role.name;
    EXPECT_FALSE(role.title.empty()) << role.name;
    EXPECT_FALSE(role.description.empty()) << role.name;
    EXPECT_TRUE(std::ranges::is_sorted(role.permissions)) << role.name;
    EXPECT_EQ(FindRole(role.name), &role);
  }
}

TEST(Roles, AreFoundByTheirWholeNameOnly) {
  EXPECT_EQ(FindRole("ml.viewer"), nullptr);
  EXPECT_EQ(FindRole("roles/ml.view"), nullptr);
  EXPECT_EQ(FindRole("roles/ml.viewerx"), nullptr);
  EXPECT_EQ(FindRole(""), nullptr);
  EXPECT_EQ(FindRole("roles/zzz"), nullptr);
}

TEST(Roles, EachPermissionIsSomebodys) {
  for (const std::string_view permission : Permissions()) {
    EXPECT_TRUE(FindRole(kInstallationAdmin)->Has(permission)) << permission;
    EXPECT_NE(NarrowestRole(permission), nullptr) << permission;
  }
  EXPECT_FALSE(FindRole(kInstallationAdmin)->Has("ml.jobs"));
  EXPECT_FALSE(FindRole(kInstallationAdmin)->Has("*"));
  EXPECT_FALSE(FindRole(kInstallationAdmin)->Has(""));
}

std::vector<std::string_view> RolesWith(std::string_view permission) {
  std::vector<std::string_view> names;
  for (const Role& role : Roles()) {
    if (role.Has(permission)) names.push_back(role.name);
  }
  return names;
}

using Names = std::vector<std::string_view>;

// Permissions that read files of the server's machine, or act on the whole installation, are only for
// administrators.
TEST(Roles, WhatReachesTheMachineIsAdministrators) {
  EXPECT_EQ(RolesWith("trainyard.images.useLocal"),
            (Names{"roles/aiplatform.admin", "roles/ml.admin", "roles/owner", "roles/trainyard.admin"}));
  EXPECT_EQ(RolesWith("trainyard.tokens.create"), (Names{"roles/trainyard.admin"}));
  EXPECT_EQ(RolesWith("trainyard.server.drain"),
            (Names{"roles/trainyard.admin", "roles/trainyard.operator"}));
  EXPECT_EQ(RolesWith("trainyard.server.getMetrics"),
            (Names{"roles/monitoring.viewer", "roles/trainyard.admin", "roles/trainyard.operator"}));
  EXPECT_EQ(RolesWith("trainyard.images.useCredentials"),
            (Names{"roles/aiplatform.admin", "roles/aiplatform.user", "roles/editor", "roles/ml.admin",
                   "roles/ml.developer", "roles/owner", "roles/trainyard.admin", "roles/trainyard.member"}));
  EXPECT_EQ(RolesWith("trainyard.jobs.shell"), (Names{"roles/editor", "roles/ml.admin", "roles/ml.jobOwner",
                                                      "roles/owner", "roles/trainyard.admin"}));
}

TEST(Roles, TheCustomCodeAgentMakesNoTokensAndChangesNoPolicies) {
  const Role* role = FindRole("roles/aiplatform.customCodeServiceAgent");
  ASSERT_NE(role, nullptr);
  for (const char* needed : {"aiplatform.customJobs.create", "aiplatform.studies.create",
                             "logging.logEntries.create", "storage.buckets.get", "storage.objects.update"})
    EXPECT_TRUE(role->Has(needed)) << needed;
  for (const std::string_view permission : role->permissions) {
    EXPECT_FALSE(permission.starts_with("iam.")) << permission;
    EXPECT_FALSE(permission.ends_with(".setIamPolicy")) << permission;
  }
}

TEST(Roles, AnOperatorSeesNobodysData) {
  for (const std::string_view permission : FindRole("roles/trainyard.operator")->permissions)
    EXPECT_TRUE(permission.starts_with("trainyard.server.") || permission == "trainyard.usage.get")
        << permission;
}

TEST(Roles, AMemberIsADeveloperWithObjectsBucketsAndLogs) {
  std::set<std::string_view> parts{"storage.buckets.get", "storage.buckets.list",
                                   "serviceusage.services.enable", "serviceusage.services.get",
                                   "serviceusage.services.list"};
  for (const char* part : {"roles/ml.developer", "roles/storage.objectAdmin", "roles/logging.viewer"})
    parts.insert(FindRole(part)->permissions.begin(), FindRole(part)->permissions.end());
  for (const std::string_view permission : FindRole("roles/aiplatform.user")->permissions) {
    // It cancels and deletes everybody's jobs. Studies belong to everyone of the project, as in ml v1.
    const bool is_of_studies =
        permission.starts_with("aiplatform.studies.") || permission.starts_with("aiplatform.trials.");
    if (is_of_studies || (!permission.ends_with(".cancel") && !permission.ends_with(".delete")))
      parts.insert(permission);
  }
  const auto member = FindRole("roles/trainyard.member")->permissions;
  EXPECT_EQ(Names(member.begin(), member.end()), Names(parts.begin(), parts.end()));
}

TEST(NarrowestRole, IsWhatAnAdministratorBinds) {
  const auto narrowest = [](std::string_view permission) { return NarrowestRole(permission)->name; };
  EXPECT_EQ(narrowest("ml.jobs.create"), "roles/ml.developer") << "not jobOwner, which cancels everybody's";
  EXPECT_EQ(narrowest("ml.jobs.get"), "roles/ml.viewer");
  EXPECT_EQ(narrowest("ml.jobs.cancel"), "roles/ml.admin");
  EXPECT_EQ(narrowest("storage.objects.get"), "roles/storage.objectViewer");
  EXPECT_EQ(narrowest("storage.objects.create"), "roles/storage.objectCreator");
  EXPECT_EQ(narrowest("storage.objects.delete"), "roles/storage.objectAdmin");
  EXPECT_EQ(narrowest("storage.buckets.get"), "roles/storage.admin");
  EXPECT_EQ(narrowest("iam.serviceAccounts.actAs"), "roles/iam.serviceAccountUser");
  EXPECT_EQ(narrowest("iam.serviceAccounts.getAccessToken"), "roles/iam.serviceAccountTokenCreator");
  EXPECT_EQ(narrowest("logging.logEntries.list"), "roles/logging.viewer");
  EXPECT_EQ(narrowest("logging.privateLogEntries.list"), "roles/logging.privateLogViewer");
  EXPECT_EQ(narrowest("resourcemanager.projects.get"), "roles/browser");
  EXPECT_EQ(narrowest("resourcemanager.projects.setIamPolicy"), "roles/resourcemanager.projectIamAdmin");
  EXPECT_EQ(narrowest("trainyard.server.drain"), "roles/trainyard.operator");
  EXPECT_EQ(NarrowestRole("ml.models.predict"), nullptr);
}

}  // namespace
}  // namespace trainyard::iam
