// espalier train: from results/<device-key>/ to kernels/selectors/<family>/<device-key>.tree.

#include "harness/bench/train/train.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/files/read_file.hpp"
#include "harness/base/files/same_file.hpp"
#include "harness/base/text/counted.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/base/text/to_stderr.hpp"
#include "harness/base/text/to_stdout.hpp"
#include "harness/bench/records/atomic_file.hpp"
#include "harness/bench/records/results.hpp"
#include "harness/bench/train/export.hpp"
#include "harness/bench/train/relatives.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/measured_devices.hpp"
#include "harness/cli/print_json.hpp"
#include "kernels/dispatch/tree_file.hpp"

namespace espalier::bench::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
    std::vector<std::string> devices, families;
    std::string results, output;  ///< empty: the defaults
    std::string weights;          ///< file of the problems that weigh more; empty: none
    learn::TrainingFolders folders;
    learn::TrainOptions train;
    std::filesystem::path matrices;
    bool trees = false, check = false, json = false, quiet = false;
    bool every_device = false;  ///< none was named
};

/// The trees of one device. Nothing where its results belong to other processors and nobody named it.
std::optional<learn::TrainedDevice> train(const Options& options, const std::string& key) {
    try {
        return learn::train_device(key, options.folders, options.families, options.train);
    } catch (const learn::ForeignEvidence& error) {
        if (!options.every_device) throw;
        if (!options.quiet) to_stderr("{} is left out: {}\n", key, error.what());
        return std::nullopt;
    }
}

nlohmann::ordered_json to_json(const learn::TrainedDevice& trained) {
    auto list = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < trained.families.size(); ++i) {
        const auto& file = trained.files[i];
        nlohmann::ordered_json entry{{"device", trained.device.key},
                                     {"family", trained.families[i].family->name()},
                                     {"file", file.path.generic_string()},
                                     {"changed", !file.is_as_wanted()}};
        entry.update(learn::summary(trained.families[i], nullptr));
        if (trained.diffs[i]) entry["decisions"] = learn::to_json(*trained.diffs[i]);
        list.push_back(std::move(entry));
    }
    return list;
}

/// Whether a weighted tree was made; if weights were asked for and are of no use, says so, and nothing is written.
bool weights_count(const Options& options, const learn::TrainedDevice& trained) {
    const auto weighed = [](const learn::Trained& one) { return one.weighting.has_value(); };
    if (!options.train.mix || std::ranges::any_of(trained.families, weighed)) return true;
    to_stderr("{} is left out: no problem of {} was measured there; `espalier sweep --problems {}` does\n",
              trained.device.key, printable(options.weights), printable(options.weights));
    return false;
}

/// Before anything is written: by a link, a selector or a matrix may lead back into the results.
void refuse_to_destroy_results(const Options& options) {
    std::vector<NamedFile> inputs, outputs;
    if (!options.weights.empty()) inputs.push_back({"--weights", options.weights});
    for (const std::string& key : options.devices) {
        const auto folder = options.folders.results / key;
        for (const auto& file : result_files(folder, {})) inputs.push_back({"", file.string()});
        inputs.push_back({"", (folder / "known_stale.json").string()});
        outputs.push_back({"", (folder / "selector.json").string()});
        std::error_code none;
        for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
            const std::string family = family_of_file(entry.path());
            if (family.empty()) continue;
            for (const char* ending : {".tree", ".forest"})
                outputs.push_back({"", (options.folders.output / family / (key + ending)).string()});
            if (!options.matrices.empty())
                outputs.push_back({"", (options.matrices / key / (family + ".json")).string()});
        }
    }
    refuse_same_files(outputs, inputs);
}

void print_heading() {
    to_stdout("{:<34} {:<16} {:>8} {:>7} {:>6} {:>5}  {:>6} {:>6} {:>6}  {:>8} {:>6} {:>6}  {:>6}\n", "device",
              "family", "problems", "choices", "leaves", "depth", "regret", "P90", "max", "held out", "P90", "max",
              "single");
}

void print_rows(const learn::TrainedDevice& trained) {
    for (const learn::Trained& t : trained.families) {
        const learn::Regret &training = t.evaluation.training, &held_out = t.evaluation.held_out.regret;
        const learn::Matrix& matrix = t.evidence.matrix;
        const auto decimal = [&](double value) {
            return t.evaluation.held_out.logs.empty() ? "-" : fmt::format("{:.3f}", value);
        };
        to_stdout("{:<34} {:<16} {:>8} {:>7} {:>6} {:>5}  {:>6.3f} {:>6.3f} {:>6.3f}  {:>8} {:>6} {:>6}  {:>6.3f}\n",
                  trained.device.key, t.family->name(), matrix.rows(), matrix.candidates.size(), t.tree.leaves.size(),
                  t.tree.depth(), training.geomean, training.p90, training.worst, decimal(held_out.geomean),
                  decimal(held_out.p90), decimal(held_out.worst), t.evaluation.best_single);
    }
}

/// A tree that was weighed by another file than now: says with what to check it. Empty for any other file.
std::string other_weights(const learn::TrainedFile& file) {
    const auto text = read_file(file.path);
    const std::string on_file = text ? learn::weights_of(*text) : "", now = learn::weights_of(file.contents);
    if (on_file == now) return {};
    if (on_file.empty()) return "it was trained without weights: check it without --weights";
    return fmt::format(
        "it was trained with {}weights, of a file with SHA-256 {}: check it with --weights and that file",
        now.empty() ? "" : "other ", on_file);
}

/// Says on stderr what differs. Returns whether anything does.
bool report_differences(const learn::TrainedDevice& trained) {
    bool any = false;
    for (const learn::TrainedFile& file : trained.files) {
        if (file.is_as_wanted()) continue;
        any = true;
        if (file.unwanted)
            to_stderr("{}: is not to be there: another device's tree chooses better\n", file.path.string());
        else if (const std::string weights = other_weights(file); !weights.empty())
            to_stderr("{}: {}\n", file.path.string(), weights);
        else if (file.exists)
            to_stderr("{}: differs from line {} on\n", file.path.string(), file.first_difference);
        else
            to_stderr("{}: is missing\n", file.path.string());
    }
    return any;
}

void warn_of_stale_evidence(const learn::TrainedDevice& trained) {
    for (const StaleVariant& stale : trained.stale)
        if (!is_known(trained.known_stale, stale))
            to_stderr(
                "{}: a tree rests on {}; until then list it with today's source in results/{}/known_stale.json, "
                "if its times still hold\n",
                trained.device.key, describe(stale), trained.device.key);
}

/// On how many measured problems the committed tree of this very device rests; 0 if there is none.
int committed_problems(const std::string& key, std::string_view family) {
    const auto text = read_file(selectors_of("results") / family / (key + ".tree"));
    return text ? learn::problems_of(read_tree(*text)) : 0;
}

/// Of a device that is swept here and has a committed tree, the tree that more was measured for is shipped.
void leave_to_committed_trees(const Options& options, learn::TrainedDevice& trained) {
    if (options.folders.evidence.empty()) return;
    if (options.train.mix) return;  // somebody asks for trees of their own
    for (std::size_t i = 0; i < trained.families.size(); ++i) {
        const learn::Trained& own = trained.families[i];
        const int committed = committed_problems(trained.device.key, own.family->name());
        if (committed <= static_cast<int>(own.evidence.matrix.rows())) continue;
        trained.notices.push_back(fmt::format(
            "{}: the committed tree of this very device stays in use: it rests on {} problems, this one on {}",
            own.family->name(), committed, own.evidence.matrix.rows()));
        trained.files[i].unwanted = true;
    }
}

void write(const learn::TrainedFile& file) {
    if (file.is_as_wanted()) return;
    if (file.unwanted)
        fs::remove(file.path);
    else
        write_file_atomically(file.path, file.contents);
}

void print_decision_diffs(const learn::TrainedDevice& trained) {
    for (std::size_t i = 0; i < trained.diffs.size(); ++i)
        if (trained.diffs[i] && !trained.diffs[i]->changes.empty())
            to_stderr("{} {}: {}", trained.device.key, trained.families[i].family->name(),
                      learn::describe(*trained.diffs[i]));
}

/// What a machine without a compiler does with the trees, and others until the library is built anew.
void tell_how_to_load(const Options& options) {
    const auto path = std::filesystem::absolute(options.folders.output).lexically_normal();
    to_stderr(
        "the new trees go into the library when it is built; to use them without a compiler: "
        "export ESPALIER_SELECTORS='{}'\n",
        printable(path.string()));
}

[[noreturn]] void refuse_no_results(const Options& options) {
    if (options.train.mix)
        throw Failure(ExitCode::bad_data, "--weights " + options.weights + " weighs nothing that was measured");
    throw Failure(ExitCode::bad_data,
                  "there are no results to train on in " + options.folders.results.string() + ": run `espalier sweep`");
}

void run(Options options, ExitCode& code) {
    options.train.evaluate = !options.trees;
    for (const std::string& family : options.families) family_named(family);  // throws for one that there is not
    options.every_device = options.devices.empty();
    // What is checked is what is committed.
    const bool committed = options.check && options.every_device && options.results.empty();
    options.folders.results = committed ? "results" : results_to_read(options.results, options.devices);
    // Of this machine's own results: devices that are alike are among the committed ones.
    if (is_own(options.folders.results))
        options.folders.evidence = "results", options.folders.evidence_trees = selectors_of("results");
    options.folders.output = options.output.empty() ? selectors_of(options.folders.results) : fs::path(options.output);
    const bool everything = options.every_device && options.families.empty();
    if (options.devices.empty()) options.devices = learn::devices_with_results(options.folders.results);
    refuse_to_destroy_results(options);
    if (!options.weights.empty())
        options.train.mix = std::make_shared<const learn::ProblemMix>(learn::read_mix(options.weights));
    bool different = false;
    std::size_t trained_families = 0;
    auto json = nlohmann::ordered_json::array();
    for (const std::string& key : options.devices) {
        if (!options.quiet) to_stderr("training {}\n", key);
        auto maybe = train(options, key);
        if (!maybe || !weights_count(options, *maybe)) continue;
        if (!options.check) leave_to_committed_trees(options, *maybe);
        const learn::TrainedDevice& trained = *maybe;
        if (!options.quiet)
            for (const auto& notice : trained.notices) to_stderr("{}: {}\n", key, notice);
        if (!options.quiet) {
            warn_of_stale_evidence(trained);
            print_decision_diffs(trained);
        }
        const bool table = !options.json && !options.trees;
        if (table && trained_families == 0 && !trained.families.empty()) print_heading();
        trained_families += trained.families.size();
        if (options.json)
            for (auto& entry : to_json(trained)) json.push_back(std::move(entry));
        if (table) print_rows(trained);
        if (!options.matrices.empty())
            for (const learn::Trained& t : trained.families)
                write_file_atomically(options.matrices / key / (std::string(t.family->name()) + ".json"),
                                      learn::export_matrix(trained.device, t, options.train.learn).dump() + "\n");
        if (options.check)
            different |= report_differences(trained);
        else
            for (const auto& file : trained.files) write(file);
    }
    if (options.json) print_json(json, 2);
    if (trained_families == 0) refuse_no_results(options);
    if (everything)
        for (const auto& path : learn::orphans(options.folders)) {
            to_stderr("{}: has no results any more: remove it\n", path.string());
            different |= options.check;
        }
    if (!options.check && options.train.evaluate && !options.quiet) tell_how_to_load(options);
    if (different) {
        to_stderr("the selectors are not what the results give: run `espalier train` and commit its files\n");
        code = ExitCode::bad_data;
    }
}

}  // namespace

void add_train(CLI::App& program, ExitCode& code) {
    auto options = std::make_shared<Options>();
    CLI::App& command =
        *program.add_subcommand("train", "Learn from results which variant to run, and write the trees");
    command.add_option("--device", options->devices, "Device keys; default: every folder of results")->type_name("KEY");
    command.add_option("--family", options->families, "Families; default: all that were measured");
    command.add_option("--results", options->results, kResultsHelp);
    command.add_option("--output", options->output,
                       "Where the trees go; default: kernels/selectors, those of another folder of results to "
                       "its selectors/");
    add_number(command, "--max-leaves", options->train.learn.max_leaves, "Largest tree")
        ->check(within(1, 1000))
        ->capture_default_str();
    add_number(command, "--predicted", options->train.learn.drawn,
               "Learn from so many problems with predicted times beside the measured ones; fewer are quicker and "
               "place thresholds less well")
        ->type_name("N")
        ->check(within(0, 1'000'000))
        ->capture_default_str();
    command.add_option("--weights", options->weights,
                       "Trees for a program above all: the problems of this file, which it wrote with "
                       "ESPALIER_RECORD=FILE, weigh nine times all others, each by its share of the time");
    add_number(command, "--noise-floor", options->train.evidence.noise_floor, "Relative difference that never counts")
        ->check(within(0.0, 1.0))
        ->capture_default_str();
    add_number(command, "--seed", options->train.learn.seed, "Of the folds and the bootstrap")->capture_default_str();
    command
        .add_option("--matrices", options->matrices, "Also write what was trained on, for other learners, to a folder")
        ->type_name("DIR");
    CLI::Option* const json = command.add_flag("--json", options->json, "Print JSON instead of a table");
    command
        .add_flag("--trees", options->trees,
                  "Only the trees, without how good they are: a tenth of the time. The figures in results stay as they "
                  "are")
        ->excludes(json);
    command.add_flag("--forests", options->train.forests,
                     "Also forests for plans that predict, <device-key>.forest beside the trees; those that are there "
                     "are made anew in any case");
    command.add_flag("--check", options->check, "Write nothing; exit 4 if a file is not what training gives");
    command.add_flag("--allow-partial", options->train.evidence.allow_partial, "Train although cases are missing");
    command.add_flag("--allow-mixed", options->train.evidence.allow_mixed,
                     "Train on times of several drivers, runtimes or builds");
    command
        .add_flag("--allow-disturbed", options->train.evidence.allow_disturbed,
                  "Train on what was measured while others used the processors or the device was slowed down")
        ->envname("ESPALIER_ALLOW_DISTURBED");
    command.add_flag("--strict", options->train.evidence.strict, "Refuse stale sources and unknown variants");
    command.add_flag("--quiet", options->quiet, "No progress and no notices");
    command.callback([options, &code] { run(*options, code); });
}

}  // namespace espalier::bench::cli
