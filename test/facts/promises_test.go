package facts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// promise is a sentence about what a simulation says by default, and what holds it: tests ("PACKAGE: TEST TEST; ..."), texts that
// were read (golden files, "PATH"), and stories of the command line ("PATH: the comment above it").
type promise struct {
	sentence, tests string
	texts           []string
}

const (
	printed = "sim/report/testdata/"
	stories = "test/script/testdata/"
)

// promises are about the world that is assumed, the verdict and the exit code, and the report.
var promises = []promise{
	// The world.
	{"kube-proxy's runner is that of its version: a token bucket up to 1.33, a wait after each sync from 1.34 on", "proxier/pace: TestTheTokenBucketIsThatOfTheEarlierRunner TestWhatTheRunnersMakeOfTwoChangesInARow; sim: TestTwoSyncsFollowEachOtherUpTo133 TestWhatARolloutLosesByVersion", []string{stories + "sim.txtar: Which runner kube-proxy has decides how much that is."}},
	{"all workloads behind one Service are in the world of each case", "sim: TestAPodOfAnotherWorkloadOfTheServiceCouldHaveAnswered; sim/sweep: TestACanaryIsATenthOfItsService", []string{printed + "canary.txt", stories + "verdicts.txtar: One canary of ten pods"}},
	{"what fails without the action is no loss of the action", "sim/record: TestWhatFailsWithoutTheActionIsNotItsLoss TestWhatNeverAnswersIsNoOutageOfTheAction TestAsManyOtherFailuresAreChance; sim/sweep: TestANodeThatNeverAnswersIsNoLossOfTheRollout", []string{printed + "nodeport-local.txt", printed + "made-before.txt", stories + "verdicts.txtar: What fails before anything happens has a line of its own"}},
	{"a node that gets a pod does not make up for one that loses its last", "sim/record: TestANodeThatComesAlightDoesNotMakeUpForAnother; sim/sweep: TestANodeThatComesAlightDoesNotMakeUpForOneThatGoesDark", []string{printed + "nodeport-local.txt"}},
	{"seconds lost do not depend on when a run ends", "sim/sweep: TestLostSecondsDoNotDependOnTheEndOfTheRun", nil},
	{"where replicas is 0 there is nothing to restart", "sim/report: TestTexts", []string{printed + "zero-replicas.txt", stories + "verdicts.txtar: No pods: no verdict."}},
	{"a client's timeout is an assumption of its own, and so is its connect timeout; a slower app does not change them", "sim/scenario: TestHowLongClientsWait TestWhatAStreamSaysOfItsClients TestASlowerAppHasTheSameClients; sim/traffic: TestConnectTimeoutEndsBeforeTheRequestTimeout", nil},
	{"the address of a pod that is gone answers nothing, or that it is unreachable", "sim/scenario: TestWhatAnAddressAnswersThatIsGone; sim/traffic: TestWhatAnAddressAnswersWhereNothingIs; sim: TestAnAddressThatIsGoneIsBlamedOnTheRules TestADialOfGRPCLosesItsTimeout", nil},
	{"a client repeats what a reused connection lost, and one that does not is the alternative", "sim/traffic: TestAClientRepeatsWhatAReusedConnectionLost TestWhatANewConnectionLostIsNotRepeated; sim: TestAPoolThatRepeatsLosesNothingToAnEnd; sim/scenario: TestWhatClientsMightDoInstead", nil},
	{"nodes that are made up are as many as the policy needs, and varied", "sim/scenario: TestTheNumberOfMadeUpNodesIsVaried TestWorkloadsThatExcludeEachOtherHaveANodeForEachOfTheirPods", nil},
	{"each load balancer that it might be is simulated, with a line and a fix of its own", "sim/scenario: TestACaseIsMadeForEachLoadBalancerThatItMightBe; sim/sweep: TestEveryLoadBalancerThatItMightBeHasItsVerdict TestAFixIsOneForTheLoadBalancersItWasConfirmedFor; sim/report: TestTheHeadlineSaysWhatDependsOnTheLoadBalancer", []string{printed + "unknown-lb.txt", printed + "made-families.txt"}},
	{"figures of load balancers that are only reported are varied over their range", "sim/scenario: TestWhatIsOnlyReportedIsVariedOverItsRange TestReportsOfAPresetAreItsReportedFields TestTheLongestThatWasReported", nil},
	{"a target that is initial gets nothing, and readiness gates and draining are proposed where they help", "sim/balancer: TestATargetThatIsInitialGetsNothing; sim/fix: TestAReadinessGateIsOfferedBehindALoadBalancerThatSetsIt TestDrainingIsOfferedBehindGooglesHTTPLoadBalancer; sim/scenario: TestAReadinessGateIsARemedy TestConnectionDrainingIsARemedy", nil},
	{"a cluster is never idle: other Services change, and share each proxy's hold", "sim: TestADeletionIsNotInForceAtOnceWhereOtherServicesChange; sim/cluster: TestASingleDeletionWaitsWhereOtherServicesChange; sim/scenario: TestOtherServicesChangeUnlessAScenarioIsSilentAboutThem", nil},
	{"host ports count, a pod without a node stays Pending, and a rollout that cannot go on is stuck", "sim/cluster: TestARolloutThatFindsNoNodeIsStuck TestHostPortsThatDoNotClash TestAPendingPodIsBoundWhenAnotherHasGone TestWhatARolloutWaitsForInVain TestProgressDeadline; sim: TestARolloutWithoutANodeEndsSoonAndIsStuck", []string{printed + "stuck.txt", printed + "one-node.txt", printed + "host-ports.txt", stories + "verdicts.txtar: A rollout that cannot go on"}},
	{"what is stuck has what lets it go on, tried and confirmed, with YAML to paste", "sim/sweep: TestWhatIsStuckGetsAWayOut TestNoFixLeavesARolloutStuck", []string{printed + "stuck.txt"}},
	{"with grace 0 the object goes at once", "sim/cluster: TestAForcedDeletionDoesNotWaitForTheKubelet", []string{printed + "grace-0.txt"}},
	{"a server that drains closes a kept connection after its answer", "sim: TestAServerThatDrainsClosesItsConnections TestAServerThatShutsDownClosesIdleConnections", nil},
	{"a sleep program in an unknown image is an assumption, and images without one fail", "sim/scenario: TestAHookOfAnUnknownImageIsAnAssumption; sim/servers: TestHooksThatAreNoProgram TestAContainerThatRunsAShellHasOne", nil},
	{"images are known by whole words; runners of packages, JVMs and init containers have rows of their own", "sim/scenario: TestWhatAPackageRunnerDoesIsAnAssumption TestAJVMStartsLater TestHowLongInitContainersRunIsAssumedWherePodsHaveSome; sim/servers: TestImagesAreKnownByWholeWords; sim/cluster: TestInitContainersRunOneAfterAnother", []string{printed + "npm.txt", printed + "jvm.txt"}},
	{"clients inside of pods in a mesh are not judged, in one line", "sim/scenario: TestClientsInsideAreSaidNotToBeJudged; sim/report: TestClientsInsideAreNotJudged", []string{printed + "mesh.txt"}},
	{"kinds that are not simulated are named as what they are", "sim/report: TestTexts", []string{printed + "rollout.txt"}},
	{"where users enter comes first, and says so where that is not judged", "sim/report: TestWhereUsersEnterComesFirst; sim/scenario: TestEvidenceOfAnIngress TestEvidenceOfAnHTTPRoute TestWhatALoadBalancerIsFor", []string{printed + "several-entries.txt"}},
	{"each sync of a Deployment ends with its status, Events take tokens, equal victims are drawn, old ReplicaSets go", "sim/cluster: TestASyncEndsWithItsStatus TestEqualVictimsAreDrawn TestOldReplicaSetsGoByTheHistoryLimit; sim/control: TestEventsTakeTokensOfTheirController TestRollingUpdateKeepsItsPromise", nil},
	{"a pod that is not Ready could not have answered", "sim: TestAPodThatListensAndIsNotReadyCouldNotHaveAnswered", []string{printed + "single-replica.txt", printed + "recreate.txt"}},

	// The verdict and the exit code.
	{"the words of a verdict follow from the runs, as many as it takes for the same word with other seeds", "sim/record: TestVerdictFollowsFromTheRuns TestTheWordsOfManyRuns TestEnoughRunsForTheWord TestLossBound; sim/sweep: TestAsManyRunsAsItTakes", []string{printed + "made-rare.txt"}},
	{"an assumption never makes what loses as assumed a case that depends", "sim/record: TestAnAssumptionDecidesWhereOneValueLosesAndTheOtherDoesNot TestTheGreatestEffectCounts", []string{stories + "sim.txtar: An app of which nothing is known may cut its requests at SIGTERM"}},
	{"the exit code is 1 where what was assumed loses; --fail-on names the mildest verdict, --max-lost and --max-drops allow some", "sim/record: TestFailOnNamesTheMildestVerdictThatFails TestLimitsOfTheMedianRun; sim/report: TestWhatIsAllowedSaysByWhat", []string{stories + "sim.txtar: Findings are a matter of exit codes, not of formats."}},
	{"a name that matches nothing is an error that lists what there is", "test/script: TestScripts", []string{stories + "nothing.txtar: --show that matches no case lists those that there are"}},
	{"JUnit agrees with the exit code", "sim/report: TestJUnit", nil},
	{"an interrupted run prints what there is, and exits as programs do that were interrupted", "test/script: TestASignalPrintsWhatThereIs; sim/sweep: TestCancellingKeepsWhatWasDone TestALongRunDoesNotHoldUpTheEnd", nil},
	{"what users see and what loses most comes first", "sim/record: TestTheWorstCaseIsTheOneThatUsersSee", nil},
	{"only what halves the loss beyond chance is a fix, confirmed on new seeds", "sim/sweep: TestFixesAreConfirmedOnOtherSeeds TestAFixHalvesTheLoss TestTheFixIsTheEndOfTheMistake", nil},
	{"the recommended value holds over the alternatives, in steps that people know, with the least value beside it", "sim/sweep: TestTheRecommendedHookHoldsWithOtherValuesToo TestAFixThatHoldsAsAssumedOnlyIsMarked TestAHookIsNotSolvedForTheLastPodOfANode; sim/fix: TestAHookSleepsAsLongAsPeopleKnow TestLatenessIsWhenTheLastWayToADeletedPodCloses; sim/report: TestAFixThatHelpsAsAssumedOnlySaysSo", nil},
	{"a process that ignores SIGTERM gets a handler and no time", "sim/fix: TestAProcessThatIgnoresSIGTERMNeedsAHandlerNotTime; sim/sweep: TestNoGraceForAProcessThatIgnoresSIGTERM; sim/scenario: TestWhatHelpsAnAppThatIgnoresSIGTERM", nil},
	{"every workload gets its fix, equal ones are one line, and the YAML to paste has its place", "sim/sweep: TestEveryWorkloadGetsItsFixAndEqualOnesAreOneRecord; sim/edit: TestAnEditPrintsItself; sim/fix: TestTextOfAFixIsTheDeploymentThatWasTried; sim/report: TestAFixForManyWorkloadsIsOneParagraph; sim/fix: TestTheYAMLToPasteHasItsPlace", []string{printed + "made-forty.txt"}},

	// The report.
	{"a text has at most 100 columns, or the terminal's, and 50 lines for one workload or 60 for forty", "sim/report: TestTexts TestTextsOfManyWorkloadsKeepToThePage TestTextsOfTheCorpusKeepToThePage TestTheFullestTextKeepsToThePage", nil},
	{"file names are said once, and what is wrong has a name that is understood at first sight", "sim/report: TestFilesAreNamedWhereTheyChange TestEveryCauseHasWords TestNobodyIsBlamedForWhatNobodyIsLateWith", nil},
	{"the story of a lost request keeps what the loss comes from", "sim/report: TestAStoryKeepsWhatTheLossComesFrom; sim/sweep: TestStories", nil},
	{"a session without a server is dark for that time, whoever waited for it; slow and rescued requests are told", "sim: TestASessionLosesTheTimeWithoutAServer; sim/traffic: TestASessionWithoutAServerIsDarkWhoeverWaited; sim/report: TestConnectionsThatEndedAreTold", []string{printed + "made-sessions.txt"}},
	{"explain and trace keep to the page, and the demonstration is one", "cmd/lameduck/internal/cli: TestTablesKeepToTheWidthOfALine; test/script: TestTheDemonstrationIsAPage", nil},
	{"what was taken from the manifest is shown where it decides, and HOLDS prints what it holds under", "sim/report: TestTexts TestADigestIsShort TestUnlessNamesWhatChangesMost", []string{printed + "web-app-holds.txt"}},
	{"KEP-1669 at work is said, and --show gives the timeline of what held", "sim/report: TestTexts", []string{printed + "fallback.txt", printed + "made-fallback.txt", printed + "web-app-held.txt"}},
	{"there is a reference of the grammar and a schema of it and of the results", "sim/scenario: TestTheReferenceIsComplete; test/schema: TestGeneratedDocuments TestEveryExampleIsValidByTheSchema TestMistakesAreInvalidByTheSchema TestAResultIsValidByTheSchema", nil},
	{"-l, -k, -R and --version are kubectl's, URLs are refused, names complete", "test/script: TestScripts", []string{stories + "input.txtar: URLs are not fetched.", stories + "input.txtar: Labels choose what is asked about", stories + "input.txtar: A kustomization is built by the machine's own program", stories + "input.txtar: The shell completes names of the input.", stories + "input.txtar: The version, as a flag, too."}},
	{"versions that nothing is known of are errors that say what is valid", "test/script: TestScripts", []string{stories + "sim.txtar: A version that nothing is known of is an error that says what is valid."}},
	{"what a document shows is what the program prints, and its commands work", "test/script: TestDocumentsShowWhatIsPrinted TestEveryBlockOfTheDocumentsIsHeldToTheProgram TestTheDocumentsShowCodeThatRuns", nil},
	{"field reports are played as they were told, and stand in a table with what does not agree", "sim: TestFieldReports TestFieldReportsAreInTheTable", nil},
}

// What holds a promise exists.
func TestEveryPromiseIsHeldByATest(t *testing.T) {
	t.Parallel()
	tests, said := map[string]map[string]bool{}, map[string]bool{}
	for i := range promises {
		p := &promises[i]
		if said[p.sentence] || p.sentence == "" {
			t.Errorf("%q is promised twice, or nothing is", p.sentence)
		}
		said[p.sentence] = true
		for _, fault := range missingTests(t, tests, p.tests) {
			t.Errorf("%s: %s", p.sentence, fault)
		}
		for _, where := range p.texts {
			file, comment, isStory := strings.Cut(where, ": ")
			text, err := os.ReadFile(filepath.Join(root, file))
			if err != nil {
				t.Errorf("%s: %v", p.sentence, err)
			} else if isStory && !strings.Contains("\n"+string(text), "\n# "+comment) {
				t.Errorf("%s: %s has no story %q", p.sentence, file, comment)
			}
		}
	}
}
