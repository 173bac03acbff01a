#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "programs/runtimes/program.h"
#include "programs/sandbox/namespaces/file_view.h"
#include "trainyard/replica/v1/replica.pb.h"

/// Makes `gs://` work in a replica for programs that do not know this service: there Google's host names lead
/// to the server's front. Source: spec environment.md section 11; docs/storage.md for users.
namespace trainyard::replica {

/// The directory in which buckets appear as files.
inline constexpr const char* kGcsFolder = "/gcs";
/// Files next to the CA bundle: the settings of gsutil and of the command `curl`, and the installation's
/// authority alone. TensorFlow reads its file of authorities again for each request, which takes 10 ms with
/// all authorities of a system, so it gets the short one (CURL_CA_BUNDLE). The command curl reads the same
/// variable, so its settings name the bundle.
inline constexpr std::string_view kBotoFile = "boto.cfg";
inline constexpr std::string_view kCurlFile = ".curlrc";
inline constexpr std::string_view kOwnAuthority = "ca.pem";
/// The bundle for Java's own stores, the same for Google's client, and gsutil's settings on a user's own
/// machine (`trainyard with`).
inline constexpr std::string_view kJavaFile = "java-cacerts";
/// A Java archive whose only content is the trust store that Google's API client has in its own.
inline constexpr std::string_view kJavaArchive = "java-google-client.jar";
inline constexpr std::string_view kUsersBotoFile = "users-boto.cfg";

/// Files in which programs look for the machine's certificate authorities, by distribution.
[[nodiscard]] const std::vector<std::string>& SystemCaBundles();

/// Java's files of authorities on this machine, with symbolic links resolved: in the distributions'
/// directories and installations, and in those that the two variables name (each may be empty). Searches the
/// file system.
[[nodiscard]] std::vector<std::string> JavaTrustStores(const std::string& java_home, const std::string& path);

/// The channels that one replica has.
struct Channels {
  bool names = false;  ///< Google's names lead to the front: TensorFlow, gsutil, gcloud, curl
  bool files = false;  ///< /gcs/BUCKET
  friend bool operator==(const Channels&, const Channels&) = default;
};

/// The channels of a replica with (or without) a private mount namespace: names need one, unless the hosts
/// file that all processes see has them already. Looks for the bundle.
[[nodiscard]] Channels FindChannels(const v1::Manifest& manifest, bool has_view);

/// One sentence for the job's log about what is missing; empty if nothing is, or nothing was wanted.
/// `advice`: how this machine gets mount namespaces, if it has none. Pure.
[[nodiscard]] std::string MissingChannels(const v1::Manifest& manifest, bool has_view, const Channels& found,
                                          const std::string& advice = {});

/// Variables for the channels; they replace the server's fallbacks of the same names. Pure.
[[nodiscard]] Variables ChannelVariables(const v1::Manifest& manifest, const Channels& found);
/// The ones among them that are the same for every job of this server.
[[nodiscard]] Variables CommonChannelVariables(const v1::Manifest& manifest, const Channels& found);

/// Binds our authorities over Java's files in `stores`. `folder`: the directory of kJavaFile, if that exists.
[[nodiscard]] std::vector<FileView::Bind> JavaBinds(const std::string& folder,
                                                    const std::vector<std::string>& stores);

/// Binds the buckets' directory to kGcsFolder, then, below it, the buckets that are elsewhere on the machine:
/// as data only, whatever a program creates there. A bucket whose mount point below kGcsFolder is not a
/// directory (a program replaced it earlier) is left out. If the manifest names the buckets that the program
/// may use: binds the mount points that MakeBucketPlaces made, and those buckets over them. Looks at the
/// directories.
[[nodiscard]] std::vector<FileView::Bind> BucketBinds(const v1::Manifest& manifest);

/// Creates the mount points: a directory of the attempt with an empty directory for each bucket that the
/// manifest names. An error means that the program would not see all of its buckets.
[[nodiscard]] Status MakeBucketPlaces(const v1::Manifest& manifest);

/// The directory that the view has to add for the channels: kGcsFolder if the machine has none. Looks for it.
[[nodiscard]] std::vector<std::string> AddedFolders(const Channels& found);

/// The mounts for the channels. Looks for the system's CA bundles and Java's.
[[nodiscard]] std::vector<FileView::Bind> ChannelBinds(const v1::Manifest& manifest, const Channels& found);

}  // namespace trainyard::replica
