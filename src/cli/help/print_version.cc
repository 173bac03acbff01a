#include "cli/help/print_version.h"

#include "cli/console.h"

namespace trainyard::cli {

namespace {

constexpr std::size_t kShortCommit = 12;

}  // namespace

std::string VersionText(const BuildInfo& build, const OutputFormat& format) {
  if (format.kind != OutputFormat::Kind::kDefault) {
    Json resource = JsonObject({{"version", JsonString(std::string(build.version))},
                                {"commit", JsonString(std::string(build.commit))},
                                {"buildType", JsonString(std::string(build.build_type))}});
    return PrintResource(resource, format);
  }
  const std::size_t dash = build.commit.find('-');
  const std::string mark(dash == std::string_view::npos ? "" : build.commit.substr(dash));
  const std::string commit(build.commit.substr(0, dash).substr(0, kShortCommit));
  return "trainyard " + std::string(build.version) + " (commit " + commit + mark + ", " +
         std::string(build.build_type) + ")\n";
}

ExitStatus PrintVersion(const LocalSession& session) {
  TY_TRY(const OutputFormat format, session.Format());
  session.console.Out(VersionText(ThisBuild(), format));
  return 0;
}

}  // namespace trainyard::cli
