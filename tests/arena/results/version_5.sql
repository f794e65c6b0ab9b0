BEGIN TRANSACTION;
CREATE TABLE "ARENA_Attempt" (
	"SeriesId" INTEGER NOT NULL, 
	"Name" TEXT NOT NULL, 
	"Attempt" INTEGER NOT NULL, 
	"ContestId" TEXT NOT NULL, 
	"Contest" BLOB, 
	"Matchup" TEXT NOT NULL, 
	"Players" TEXT NOT NULL, 
	"Detail" TEXT NOT NULL, 
	"Started" DATETIME NOT NULL, 
	PRIMARY KEY ("SeriesId", "Name", "Attempt"), 
	CONSTRAINT "Attempt_from_1" CHECK ("Attempt" >= 1), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId"), 
	UNIQUE ("ContestId")
);
INSERT INTO "ARENA_Attempt" VALUES(1,'AvB_0',1,'ebceb38f22d84db28988c5032ba9e0d8/AvB_0/1',NULL,'AvB','["one", "two"]','','2026-11-22 15:13:05.402815');
INSERT INTO "ARENA_Attempt" VALUES(1,'AvB_1',1,'ebceb38f22d84db28988c5032ba9e0d8/AvB_1/1',NULL,'AvB','["two", "one"]','','2026-11-22 15:13:07.212086');
INSERT INTO "ARENA_Attempt" VALUES(2,'0',1,'cd54119019a04bd1a100cd512db023f4/0/1',NULL,'candidates','["#0", "steady"]','{"path": [3], "values": ["0.875"], "candidate": "c49304f1ce6a", "terms": {"initial_visits": 10, "initial_wins": 5.0, "opponent": "steady", "candidate_seat": "random"}, "parameters": {"level.split": 4, "level.scale": "linear", "level.low": "0.0", "level.high": "1.0", "level.integer": "False"}}','2026-11-22 15:13:52.609206');
INSERT INTO "ARENA_Attempt" VALUES(2,'1',1,'cd54119019a04bd1a100cd512db023f4/1/1',NULL,'candidates','["#1", "steady"]','{"path": [0], "values": ["0.125"], "candidate": "6e4fa0818fbf", "terms": {"initial_visits": 10, "initial_wins": 5.0, "opponent": "steady", "candidate_seat": "random"}, "parameters": {"level.split": 4, "level.scale": "linear", "level.low": "0.0", "level.high": "1.0", "level.integer": "False"}}','2026-11-22 15:13:53.181436');
INSERT INTO "ARENA_Attempt" VALUES(2,'2',1,'cd54119019a04bd1a100cd512db023f4/2/1',NULL,'candidates','["steady", "#2"]','{"path": [1], "values": ["0.375"], "candidate": "3e957c9cfe25", "terms": {"initial_visits": 10, "initial_wins": 5.0, "opponent": "steady", "candidate_seat": "random"}, "parameters": {"level.split": 4, "level.scale": "linear", "level.low": "0.0", "level.high": "1.0", "level.integer": "False"}}','2026-11-22 15:13:53.233279');
INSERT INTO "ARENA_Attempt" VALUES(2,'3',1,'cd54119019a04bd1a100cd512db023f4/3/1',NULL,'candidates','["steady", "#3"]','{"path": [2], "values": ["0.625"], "candidate": "258e1eb3be70", "terms": {"initial_visits": 10, "initial_wins": 5.0, "opponent": "steady", "candidate_seat": "random"}, "parameters": {"level.split": 4, "level.scale": "linear", "level.low": "0.0", "level.high": "1.0", "level.integer": "False"}}','2026-11-22 15:13:53.275937');
INSERT INTO "ARENA_Attempt" VALUES(2,'4',1,'cd54119019a04bd1a100cd512db023f4/4/1',NULL,'candidates','["steady", "#4"]','{"path": [2, 0], "values": ["0.53125"], "candidate": "3eda483c0f4d", "terms": {"initial_visits": 10, "initial_wins": 5.0, "opponent": "steady", "candidate_seat": "random"}, "parameters": {"level.split": 4, "level.scale": "linear", "level.low": "0.0", "level.high": "1.0", "level.integer": "False"}}','2026-11-22 15:13:53.300995');
INSERT INTO "ARENA_Attempt" VALUES(2,'5',1,'cd54119019a04bd1a100cd512db023f4/5/1',NULL,'candidates','["#5", "steady"]','{"path": [2, 0], "values": ["0.53125"], "candidate": "3eda483c0f4d", "terms": {"initial_visits": 10, "initial_wins": 5.0, "opponent": "steady", "candidate_seat": "random"}, "parameters": {"level.split": 4, "level.scale": "linear", "level.low": "0.0", "level.high": "1.0", "level.integer": "False"}}','2026-11-22 15:13:53.336672');
CREATE TABLE "ARENA_Competition" (
	"SeriesId" INTEGER NOT NULL, 
	"Uuid" TEXT NOT NULL, 
	"Kind" TEXT NOT NULL, 
	"Game" TEXT NOT NULL, 
	"Settings" TEXT NOT NULL, 
	"MoveLimit" INTEGER NOT NULL, 
	"Scorer" TEXT NOT NULL, 
	"Created" DATETIME NOT NULL, 
	PRIMARY KEY ("SeriesId"), 
	CONSTRAINT "Scorer_known" CHECK ("Scorer" IN ('internal', 'players')), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId"), 
	UNIQUE ("Uuid")
);
INSERT INTO "ARENA_Competition" VALUES(1,'ebceb38f22d84db28988c5032ba9e0d8','all-play-all','go','{"board_size": 5, "komi": 0.5}',60,'internal','2026-11-22 15:13:05.212037');
INSERT INTO "ARENA_Competition" VALUES(2,'cd54119019a04bd1a100cd512db023f4','mc_tuner','go','{"board_size": 5, "komi": 0.5}',1000,'internal','2026-11-22 15:13:52.293215');
CREATE TABLE "ARENA_Competitor" (
	"ContestantId" INTEGER NOT NULL, 
	"SeriesId" INTEGER NOT NULL, 
	"Name" TEXT NOT NULL, 
	"Current" BOOLEAN NOT NULL, 
	PRIMARY KEY ("ContestantId"), 
	FOREIGN KEY("ContestantId") REFERENCES "SAGA_Contestant" ("ContestantId"), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId")
);
INSERT INTO "ARENA_Competitor" VALUES(1,1,'one',1);
INSERT INTO "ARENA_Competitor" VALUES(2,1,'two',1);
INSERT INTO "ARENA_Competitor" VALUES(3,2,'steady',1);
CREATE TABLE "ARENA_Game" (
	"GameId" INTEGER NOT NULL, 
	"SeriesId" INTEGER NOT NULL, 
	"Name" TEXT NOT NULL, 
	"Matchup" TEXT NOT NULL, 
	"Attempt" INTEGER NOT NULL, 
	"Seed" BIGINT NOT NULL, 
	"ContestId" TEXT NOT NULL, 
	"Summary" TEXT NOT NULL, 
	"Detail" TEXT NOT NULL, 
	"Termination" TEXT NOT NULL, 
	"Voids" INTEGER NOT NULL, 
	"Started" DATETIME NOT NULL, 
	"StartBoard" TEXT NOT NULL, 
	"Record" TEXT NOT NULL, 
	"RecordExtension" TEXT NOT NULL, 
	"Warnings" TEXT NOT NULL, 
	"Moves" TEXT DEFAULT '[]' NOT NULL, 
	PRIMARY KEY ("GameId"), 
	CONSTRAINT game_counted_once UNIQUE ("SeriesId", "Name"), 
	FOREIGN KEY("SeriesId", "Name", "Attempt") REFERENCES "ARENA_Attempt" ("SeriesId", "Name", "Attempt"), 
	FOREIGN KEY("GameId") REFERENCES "SAGA_Game" ("GameId"), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId"), 
	UNIQUE ("ContestId")
);
INSERT INTO "ARENA_Game" VALUES(1,1,'AvB_0','AvB',1,6407215037444868227,'ebceb38f22d84db28988c5032ba9e0d8/AvB_0/1','W+1.5','','score',0,'2026-11-22 15:13:07.016457','-------------------------','(;FF[4]AP[academy-arena:0.1.0]
C[Event: cup
Game id: AvB_0
Date: 2026-11-22 15:13 +0000
Result: W+1.5
Opening: centre (2 moves)
one cpu time: 0.00 s
two cpu time: 0.00 s
Black: one: random_moves
White: two: random_moves]
CA[UTF-8]DT[2026-11-22]EV[cup]GM[1]GN[cup AvB_0]KM[0.5]PB[one]PW[two]RE[W+1.5]
SZ[5];B[cc];W[bd];B[tt];W[ec];B[ee];W[db];B[eb];W[ed];B[ba];W[be];B[ae];W[bc];
B[tt];W[ad];B[ca];W[dc];B[de];W[ac];B[aa];W[ab];B[ce];W[bb];B[cd];W[tt];B[da];
W[ae];B[tt];C[W+1.5]W[tt])
','sgf','','[[1,"C3",0.0,null,null,1,300.0,0],[2,"B2",0.0,null,null,1,300.0,0],[1,"pass",9.6e-05,null,null,null,301.99990444800005,0],[2,"E3",2.6e-05,null,null,null,301.999974362,0],[1,"E1",1.9e-05,null,null,null,303.99988584000005,0],[2,"D4",1.5e-05,null,null,null,303.99995908000005,0],[1,"E4",1.3e-05,null,null,null,305.999872921,0],[2,"E2",1.7e-05,null,null,null,305.99994189400013,0],[1,"B5",1.4e-05,null,null,null,307.99985933100004,0],[2,"B1",1.5e-05,null,null,null,307.99992686200017,0],[1,"A1",9e-06,null,null,null,309.99984995700004,0],[2,"B3",9e-06,null,null,null,309.99991807900017,0],[1,"pass",9e-06,null,null,null,311.999841114,0],[2,"A2",1.7e-05,null,null,null,311.99990117400023,0],[1,"C5",9e-06,null,null,null,313.999832471,0],[2,"D3",2e-05,null,null,null,313.9998812050002,0],[1,"D1",1e-05,null,null,null,315.999822235,0],[2,"A3",8e-06,null,null,null,315.9998731630002,0],[1,"A5",8e-06,null,null,null,317.99981425299995,0],[2,"A4",7e-06,null,null,null,317.99986605200024,0],[1,"C1",9e-06,null,null,null,319.99980574999995,0],[2,"B4",7e-06,null,null,null,319.9998591520002,0],[1,"C2",7e-06,null,null,null,321.99979895,0],[2,"pass",7e-06,null,null,null,321.99985230200025,0],[1,"D5",9e-06,null,null,null,323.999789867,0],[2,"A1",7e-06,null,null,null,323.9998452010002,0],[1,"pass",7e-06,null,null,null,325.99978303699993,0],[2,"pass",7e-06,null,null,null,325.99983808000025,0]]');
INSERT INTO "ARENA_Game" VALUES(2,1,'AvB_1','AvB',1,8349910485173836846,'ebceb38f22d84db28988c5032ba9e0d8/AvB_1/1','B+18.5','','score',0,'2026-11-22 15:13:07.213178','-------------------------','(;FF[4]AP[academy-arena:0.1.0]
C[Event: cup
Game id: AvB_1
Date: 2026-11-22 15:13 +0000
Result: B+18.5
Opening: centre (2 moves)
two cpu time: 0.00 s
one cpu time: 0.00 s
Black: two: random_moves
White: one: random_moves]
CA[UTF-8]DT[2026-11-22]EV[cup]GM[1]GN[cup AvB_1]KM[0.5]PB[two]PW[one]RE[B+18.5]
SZ[5];B[cc];W[bd];B[cb];W[da];B[db];W[ca];B[cd];W[ee];B[tt];W[ed];B[ad];W[ce];
B[bb];W[tt];B[dc];W[ab];B[dd];W[ac];B[de];W[ae];B[tt];W[eb];B[aa];W[be];B[ea];
W[bc];B[ba];W[ea];B[tt];W[ad];B[ac];W[ec];B[eb];W[ab];B[ec];W[da];B[ea];W[ee];
B[ed];W[tt];B[ae];W[bd];B[ab];W[ce];B[ee];W[tt];B[bc];W[tt];B[ca];W[da];B[da];
W[tt];B[tt]C[B+18.5])
','sgf','','[[1,"C3",0.0,null,null,1,300.0,0],[2,"B2",0.0,null,null,1,300.0,0],[1,"C4",2.1e-05,null,null,null,301.99997867800005,0],[2,"D5",1.1e-05,null,null,null,301.9999885430001,0],[1,"D4",8e-06,null,null,null,303.99997050600007,0],[2,"C5",8e-06,null,null,null,303.999980681,0],[1,"C2",8e-06,null,null,null,305.999962534,0],[2,"E1",6e-06,null,null,null,305.999974402,0],[1,"pass",7e-06,null,null,null,307.999955314,0],[2,"E2",8e-06,null,null,null,307.99996664,0],[1,"A2",7e-06,null,null,null,309.999948153,0],[2,"C1",7e-06,null,null,null,309.99995986,0],[1,"B4",7e-06,null,null,null,311.99994107299995,0],[2,"pass",8e-06,null,null,null,311.99995199800003,0],[1,"D3",8e-06,null,null,null,313.999933351,0],[2,"A4",7e-06,null,null,null,313.99994501800006,0],[1,"D2",7e-06,null,null,null,315.999926481,0],[2,"A3",6e-06,null,null,null,315.99993942000015,0],[1,"D1",5e-06,null,null,null,317.999921404,0],[2,"A1",6e-06,null,null,null,317.99993340100013,0],[1,"pass",5e-06,null,null,null,319.99991592599997,0],[2,"E4",7e-06,null,null,null,319.99992685100005,0],[1,"A5",7e-06,null,null,null,321.99990897600003,0],[2,"B1",6e-06,null,null,null,321.99992038100015,0],[1,"E5",7e-06,null,null,null,323.999902056,0],[2,"B3",6e-06,null,null,null,323.9999140320001,0],[1,"B5",6e-06,null,null,null,325.99989556699995,0],[2,"E5",7e-06,null,null,null,325.99990749200003,0],[1,"pass",7e-06,null,null,null,327.999889058,0],[2,"A2",6e-06,null,null,null,327.99990105300003,0],[1,"A3",7e-06,null,null,null,329.999882338,0],[2,"E3",7e-06,null,null,null,329.9998940830001,0],[1,"E4",7e-06,null,null,null,331.999875688,0],[2,"A4",7e-06,null,null,null,331.99988742300013,0],[1,"E3",7e-06,null,null,null,333.999868667,0],[2,"D5",7e-06,null,null,null,333.99988008200023,0],[1,"E5",7e-06,null,null,null,335.999862117,0],[2,"E1",7e-06,null,null,null,335.9998732620003,0],[1,"E2",7e-06,null,null,null,337.99985553700003,0],[2,"pass",6e-06,null,null,null,337.9998668120003,0],[1,"A1",7e-06,null,null,null,339.9998482660001,0],[2,"B2",7e-06,null,null,null,339.99985957100034,0],[1,"A4",6e-06,null,null,null,341.99984220700003,0],[2,"C1",6e-06,null,null,null,341.99985341200033,0],[1,"E1",6e-06,null,null,null,343.999835757,0],[2,"pass",6e-06,null,null,null,343.99984714300035,0],[1,"B3",6e-06,null,null,null,345.9998292680001,0],[2,"pass",6e-06,null,null,null,345.99984084400035,0],[1,"C5",6e-06,null,null,null,347.9998234000001,0],[2,"D5",7e-06,null,null,null,347.9998342140003,0],[1,"D5",6e-06,null,null,null,349.99981693100005,0],[2,"pass",6e-06,null,null,null,349.99982796500035,0],[1,"pass",6e-06,null,null,null,351.99981046100004,0]]');
INSERT INTO "ARENA_Game" VALUES(3,2,'0','candidates',1,3065247057545751466,'cd54119019a04bd1a100cd512db023f4/0/1','W+0.5','','score',0,'2026-11-22 15:13:53.121113','-------------------------','(;FF[4]AP[academy-arena:0.1.0]
C[Event: tune
Game id: 0
Date: 2026-11-22 15:13 +0000
Result: W+0.5
Candidate parameters: level:0.875
#0 cpu time: 0.01 s
steady cpu time: 0.01 s
Black: #0
White: steady]
CA[UTF-8]DT[2026-11-22]EV[tune]GM[1]GN[tune 0]KM[0.5]PB[#0]PW[steady]RE[W+0.5]
SZ[5];B[tt];C[W+0.5]W[tt])
','sgf','','[[1,"pass",0.000117],[2,"pass",0.000030]]');
INSERT INTO "ARENA_Game" VALUES(4,2,'1','candidates',1,6096812863120040317,'cd54119019a04bd1a100cd512db023f4/1/1','W+R','','resignation',0,'2026-11-22 15:13:53.182085','-------------------------','(;FF[4]AP[academy-arena:0.1.0]
C[Event: tune
Game id: 1
Date: 2026-11-22 15:13 +0000
Result: W+R
Candidate parameters: level:0.125
#1 cpu time: 0.01 s
steady cpu time: 0.01 s
Black: #1
White: steady

W+R]
CA[UTF-8]DT[2026-11-22]EV[tune]GM[1]GN[tune 1]KM[0.5]PB[#1]PW[steady]RE[W+R]
SZ[5])
','sgf','','[]');
INSERT INTO "ARENA_Game" VALUES(5,2,'2','candidates',1,5684417069387475468,'cd54119019a04bd1a100cd512db023f4/2/1','B+R','','resignation',0,'2026-11-22 15:13:53.233816','-------------------------','(;FF[4]AP[academy-arena:0.1.0]
C[Event: tune
Game id: 2
Date: 2026-11-22 15:13 +0000
Result: B+R
Candidate parameters: level:0.375
steady cpu time: 0.01 s
#2 cpu time: 0.01 s
Black: steady
White: #2]
CA[UTF-8]DT[2026-11-22]EV[tune]GM[1]GN[tune 2]KM[0.5]PB[steady]PW[#2]RE[B+R]
SZ[5];B[tt]C[B+R])
','sgf','','[[1,"pass",0.000088]]');
INSERT INTO "ARENA_Game" VALUES(6,2,'3','candidates',1,8529617569768667619,'cd54119019a04bd1a100cd512db023f4/3/1','W+0.5','','score',0,'2026-11-22 15:13:53.276500','-------------------------','(;FF[4]AP[academy-arena:0.1.0]
C[Event: tune
Game id: 3
Date: 2026-11-22 15:13 +0000
Result: W+0.5
Candidate parameters: level:0.625
steady cpu time: 0.01 s
#3 cpu time: 0.01 s
Black: steady
White: #3]
CA[UTF-8]DT[2026-11-22]EV[tune]GM[1]GN[tune 3]KM[0.5]PB[steady]PW[#3]RE[W+0.5]
SZ[5];B[tt];C[W+0.5]W[tt])
','sgf','','[[1,"pass",0.000084],[2,"pass",0.000030]]');
INSERT INTO "ARENA_Game" VALUES(7,2,'4','candidates',1,1877213241506560759,'cd54119019a04bd1a100cd512db023f4/4/1','W+0.5','','score',0,'2026-11-22 15:13:53.301596','-------------------------','(;FF[4]AP[academy-arena:0.1.0]
C[Event: tune
Game id: 4
Date: 2026-11-22 15:13 +0000
Result: W+0.5
Candidate parameters: level:0.53125
steady cpu time: 0.01 s
#4 cpu time: 0.01 s
Black: steady
White: #4]
CA[UTF-8]DT[2026-11-22]EV[tune]GM[1]GN[tune 4]KM[0.5]PB[steady]PW[#4]RE[W+0.5]
SZ[5];B[tt];C[W+0.5]W[tt])
','sgf','','[[1,"pass",0.000048],[2,"pass",0.000025]]');
INSERT INTO "ARENA_Game" VALUES(8,2,'5','candidates',1,7024502557811916711,'cd54119019a04bd1a100cd512db023f4/5/1','W+0.5','','score',0,'2026-11-22 15:13:53.337357','-------------------------','(;FF[4]AP[academy-arena:0.1.0]
C[Event: tune
Game id: 5
Date: 2026-11-22 15:13 +0000
Result: W+0.5
Candidate parameters: level:0.53125
#5 cpu time: 0.01 s
steady cpu time: 0.01 s
Black: #5
White: steady]
CA[UTF-8]DT[2026-11-22]EV[tune]GM[1]GN[tune 5]KM[0.5]PB[#5]PW[steady]RE[W+0.5]
SZ[5];B[tt];C[W+0.5]W[tt])
','sgf','','[[1,"pass",0.000083],[2,"pass",0.000037]]');
CREATE TABLE "ARENA_Inhibition" (
	"ContestantId" INTEGER NOT NULL, 
	"VariantId" INTEGER NOT NULL, 
	PRIMARY KEY ("ContestantId", "VariantId"), 
	FOREIGN KEY("ContestantId") REFERENCES "SAGA_Contestant" ("ContestantId"), 
	FOREIGN KEY("VariantId") REFERENCES "SAGA_Variant" ("VariantId")
);
CREATE TABLE "ARENA_Meta" (
	"Key" TEXT NOT NULL, 
	"Value" TEXT NOT NULL, 
	PRIMARY KEY ("Key")
);
INSERT INTO "ARENA_Meta" VALUES('schema_version','5');
CREATE TABLE "ARENA_Outbox" (
	"OutboxId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"SeriesId" INTEGER NOT NULL, 
	"ContestId" TEXT NOT NULL, 
	"Report" BLOB, 
	"State" TEXT NOT NULL, 
	"Attempts" INTEGER NOT NULL, 
	"LastError" TEXT NOT NULL, 
	"Changed" DATETIME NOT NULL, 
	CONSTRAINT "State_known" CHECK ("State" IN ('waiting', 'acknowledged', 'refused')), 
	CONSTRAINT acknowledged_is_gone CHECK (("State" = 'acknowledged') = ("Report" IS NULL)), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId"), 
	UNIQUE ("ContestId")
);
CREATE TABLE "ARENA_Rating" (
	"GameId" INTEGER NOT NULL, 
	"Seat" INTEGER NOT NULL, 
	"Name" TEXT NOT NULL, 
	"EloBefore" FLOAT NOT NULL, 
	"EloAfter" FLOAT NOT NULL, 
	PRIMARY KEY ("GameId", "Seat"), 
	FOREIGN KEY("GameId") REFERENCES "SAGA_Game" ("GameId")
);
INSERT INTO "ARENA_Rating" VALUES(1,1,'one',1000.0,985.0);
INSERT INTO "ARENA_Rating" VALUES(1,2,'two',1000.0,1015.0);
INSERT INTO "ARENA_Rating" VALUES(2,1,'two',1015.0,1.02870800523933371547e+03);
INSERT INTO "ARENA_Rating" VALUES(2,2,'one',985.0,9.71291994760666398209e+02);
INSERT INTO "ARENA_Rating" VALUES(3,1,'#0',1000.0,985.0);
INSERT INTO "ARENA_Rating" VALUES(3,2,'steady',1000.0,1015.0);
INSERT INTO "ARENA_Rating" VALUES(4,1,'#1',1000.0,9.85647199991534307596e+02);
INSERT INTO "ARENA_Rating" VALUES(4,2,'steady',1015.0,1.02935280000846569241e+03);
INSERT INTO "ARENA_Rating" VALUES(5,1,'steady',1.02935280000846569241e+03,1.04308854423842763028e+03);
INSERT INTO "ARENA_Rating" VALUES(5,2,'#2',1000.0,986.264255770038);
INSERT INTO "ARENA_Rating" VALUES(6,1,'steady',1.04308854423842763028e+03,1.02623774138779253915e+03);
INSERT INTO "ARENA_Rating" VALUES(6,2,'#3',1000.0,1.01685080285063509113e+03);
INSERT INTO "ARENA_Rating" VALUES(7,1,'steady',1.02623774138779253915e+03,1.01010711554175225043e+03);
INSERT INTO "ARENA_Rating" VALUES(7,2,'#4',1000.0,1.01613062584604028871e+03);
INSERT INTO "ARENA_Rating" VALUES(8,1,'#5',1000.0,9.85436236204561737377e+02);
INSERT INTO "ARENA_Rating" VALUES(8,2,'steady',1.01010711554175225043e+03,1.02467087933719039935e+03);
CREATE TABLE "ARENA_Seat" (
	"GameId" INTEGER NOT NULL, 
	"Seat" INTEGER NOT NULL, 
	"PowerId" INTEGER NOT NULL, 
	"Name" TEXT NOT NULL, 
	"Fault" TEXT NOT NULL, 
	"Remark" TEXT NOT NULL, 
	"WallSeconds" FLOAT NOT NULL, 
	"PeakMemoryBytes" BIGINT, 
	"EngineName" TEXT NOT NULL, 
	"EngineDescription" TEXT NOT NULL, 
	PRIMARY KEY ("GameId", "Seat"), 
	CONSTRAINT "Seat_from_1" CHECK ("Seat" >= 1), 
	CONSTRAINT "Seat_of_a_power" UNIQUE ("GameId", "PowerId"), 
	FOREIGN KEY("GameId", "PowerId") REFERENCES "SAGA_Player" ("GameId", "PowerId"), 
	FOREIGN KEY("GameId") REFERENCES "SAGA_Game" ("GameId")
);
INSERT INTO "ARENA_Seat" VALUES(1,1,1,'one','none','',2.16963000070791167672e-04,NULL,'random_moves','random_moves');
INSERT INTO "ARENA_Seat" VALUES(1,2,2,'two','none','',1.61919999754900345578e-04,NULL,'random_moves','random_moves');
INSERT INTO "ARENA_Seat" VALUES(2,1,1,'two','none','',1.89538999961769150104e-04,NULL,'random_moves','random_moves');
INSERT INTO "ARENA_Seat" VALUES(2,2,2,'one','none','',1.72034999650350073352e-04,NULL,'random_moves','random_moves');
INSERT INTO "ARENA_Seat" VALUES(3,1,1,'#0','none','',1.16902999934609397314e-04,8904704,'','');
INSERT INTO "ARENA_Seat" VALUES(3,2,2,'steady','none','',3.00740000511723337695e-05,9060352,'','');
INSERT INTO "ARENA_Seat" VALUES(4,1,1,'#1','none','',1.36843000063890940509e-04,9060352,'','');
INSERT INTO "ARENA_Seat" VALUES(4,2,2,'steady','none','',0.0,8867840,'','');
INSERT INTO "ARENA_Seat" VALUES(5,1,1,'steady','none','',8.82000000501648173667e-05,8937472,'','');
INSERT INTO "ARENA_Seat" VALUES(5,2,2,'#2','none','',3.88770000654403702355e-05,9015296,'','');
INSERT INTO "ARENA_Seat" VALUES(6,1,1,'steady','none','',8.36740000522695481777e-05,9089024,'','');
INSERT INTO "ARENA_Seat" VALUES(6,2,2,'#3','none','',2.99039999163142056204e-05,9015296,'','');
INSERT INTO "ARENA_Seat" VALUES(7,1,1,'steady','none','',4.84419999793317401781e-05,9023488,'','');
INSERT INTO "ARENA_Seat" VALUES(7,2,2,'#4','none','',2.52380000347329769283e-05,8986624,'','');
INSERT INTO "ARENA_Seat" VALUES(8,1,1,'#5','none','',8.27469999649110832251e-05,8986624,'','');
INSERT INTO "ARENA_Seat" VALUES(8,2,2,'steady','none','',3.68540000863504246808e-05,9068544,'','');
CREATE TABLE "ARENA_Series" (
	"SeriesId" INTEGER NOT NULL, 
	"MissionId" INTEGER NOT NULL, 
	"Name" TEXT NOT NULL, 
	PRIMARY KEY ("SeriesId"), 
	CONSTRAINT series_once UNIQUE ("MissionId", "Name"), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId"), 
	FOREIGN KEY("MissionId") REFERENCES "SAGA_Series" ("SeriesId")
);
CREATE TABLE "ARENA_Void" (
	"SeriesId" INTEGER NOT NULL, 
	"Name" TEXT NOT NULL, 
	"Attempt" INTEGER NOT NULL, 
	"Cause" TEXT NOT NULL, 
	"Reason" TEXT NOT NULL, 
	"Seconds" FLOAT NOT NULL, 
	"Ended" DATETIME NOT NULL, 
	PRIMARY KEY ("SeriesId", "Name", "Attempt"), 
	FOREIGN KEY("SeriesId", "Name", "Attempt") REFERENCES "ARENA_Attempt" ("SeriesId", "Name", "Attempt"), 
	CONSTRAINT "Cause_known" CHECK ("Cause" IN ('void', 'interrupted')), 
	CONSTRAINT "Void_seconds_not_negative" CHECK ("Seconds" >= 0), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId")
);
CREATE TABLE "SAGA_Client" (
	"ClientId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"Family" TEXT NOT NULL, 
	"Release" TEXT NOT NULL, 
	"Name" TEXT NOT NULL, 
	"Version" TEXT NOT NULL, 
	"Command" TEXT NOT NULL, 
	"WorkingDir" TEXT NOT NULL, 
	"Lazy" BOOLEAN NOT NULL, 
	"Superseded" BOOLEAN NOT NULL, 
	"Obsolete" BOOLEAN NOT NULL, 
	"Notes" TEXT NOT NULL, 
	CONSTRAINT "Client_named" CHECK ("Family" <> '' AND "Command" <> '')
);
INSERT INTO "SAGA_Client" VALUES(1,'one','','random_moves','','arena.players.random_moves:random_moves','',0,0,0,'');
INSERT INTO "SAGA_Client" VALUES(2,'two','','random_moves','','arena.players.random_moves:random_moves','',0,0,0,'');
INSERT INTO "SAGA_Client" VALUES(3,'steady','','','','python3 -I -S coin.py 0.7 ''{seed}''','',0,0,0,'');
INSERT INTO "SAGA_Client" VALUES(4,'candidate','','','','python3 -I -S coin.py 0.875 ''{seed}''','',0,0,0,'');
INSERT INTO "SAGA_Client" VALUES(5,'candidate','','','','python3 -I -S coin.py 0.125 ''{seed}''','',0,0,0,'');
INSERT INTO "SAGA_Client" VALUES(6,'candidate','','','','python3 -I -S coin.py 0.375 ''{seed}''','',0,0,0,'');
INSERT INTO "SAGA_Client" VALUES(7,'candidate','','','','python3 -I -S coin.py 0.625 ''{seed}''','',0,0,0,'');
INSERT INTO "SAGA_Client" VALUES(8,'candidate','','','','python3 -I -S coin.py 0.53125 ''{seed}''','',0,0,0,'');
CREATE TABLE "SAGA_ClientVariant" (
	"ClientId" INTEGER NOT NULL, 
	"VariantId" INTEGER NOT NULL, 
	"AutoInhibit" BOOLEAN NOT NULL, 
	PRIMARY KEY ("ClientId", "VariantId"), 
	FOREIGN KEY("ClientId") REFERENCES "SAGA_Client" ("ClientId"), 
	FOREIGN KEY("VariantId") REFERENCES "SAGA_Variant" ("VariantId")
);
CREATE TABLE "SAGA_Contestant" (
	"ContestantId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"ClientId" INTEGER NOT NULL, 
	"Personality" TEXT NOT NULL, 
	"Options" TEXT NOT NULL, 
	"PlatformId" INTEGER, 
	"FinishTime" INTEGER, 
	"Throttle" FLOAT, 
	"Superseded" BOOLEAN NOT NULL, 
	"Obsolete" BOOLEAN NOT NULL, 
	"Notes" TEXT NOT NULL, 
	CONSTRAINT "FinishTime_not_negative" CHECK ("FinishTime" >= 0), 
	FOREIGN KEY("ClientId") REFERENCES "SAGA_Client" ("ClientId"), 
	FOREIGN KEY("PlatformId") REFERENCES "SAGA_Platform" ("PlatformId")
);
INSERT INTO "SAGA_Contestant" VALUES(1,1,'','',NULL,5000,NULL,0,0,'');
INSERT INTO "SAGA_Contestant" VALUES(2,2,'','',NULL,5000,NULL,0,0,'');
INSERT INTO "SAGA_Contestant" VALUES(3,3,'','',NULL,5000,NULL,0,0,'');
INSERT INTO "SAGA_Contestant" VALUES(4,4,'#0','',NULL,5000,NULL,0,0,'');
INSERT INTO "SAGA_Contestant" VALUES(5,5,'#1','',NULL,5000,NULL,0,0,'');
INSERT INTO "SAGA_Contestant" VALUES(6,6,'#2','',NULL,5000,NULL,0,0,'');
INSERT INTO "SAGA_Contestant" VALUES(7,7,'#3','',NULL,5000,NULL,0,0,'');
INSERT INTO "SAGA_Contestant" VALUES(8,8,'#4','',NULL,5000,NULL,0,0,'');
CREATE TABLE "SAGA_Game" (
	"GameId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"SeriesId" INTEGER NOT NULL, 
	"SettingId" INTEGER NOT NULL, 
	"Finished" DATETIME NOT NULL, 
	"SetupTime" FLOAT NOT NULL, 
	"PlayTime" FLOAT NOT NULL, 
	"TotalTime" FLOAT NOT NULL, 
	"Termination" INTEGER, 
	"Years" INTEGER NOT NULL, 
	"Survivors" INTEGER, 
	"Leaders" INTEGER, 
	"Winners" INTEGER NOT NULL, 
	"MaxSupplies" FLOAT, 
	CONSTRAINT "Termination_1_to_6" CHECK ("Termination" BETWEEN 1 AND 6), 
	CONSTRAINT "TotalTime_holds_all" CHECK ("TotalTime" >= "SetupTime" + "PlayTime" - 0.000001), 
	CONSTRAINT known_result_has_winners CHECK (("Termination" IS NULL) = ("Winners" = 0)), 
	CONSTRAINT solo_has_one_winner CHECK ("Termination" <> 1 OR "Winners" = 1), 
	CONSTRAINT "SetupTime_not_negative" CHECK ("SetupTime" >= 0), 
	CONSTRAINT "PlayTime_not_negative" CHECK ("PlayTime" >= 0), 
	CONSTRAINT "Years_not_negative" CHECK ("Years" >= 0), 
	CONSTRAINT "Survivors_not_negative" CHECK ("Survivors" >= 0), 
	CONSTRAINT "Winners_not_negative" CHECK ("Winners" >= 0), 
	CONSTRAINT "Leaders_at_least_1" CHECK ("Leaders" >= 1), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId"), 
	FOREIGN KEY("SettingId") REFERENCES "SAGA_Setting" ("SettingId")
);
INSERT INTO "SAGA_Game" VALUES(1,1,1,'2026-11-22 15:13:07.037009',1.38510100009625602979e-03,1.91671229999883507844e-02,2.05522240000846068141e-02,1,14,2,1,1,12.5);
INSERT INTO "SAGA_Game" VALUES(2,1,1,'2026-11-22 15:13:07.227252',0.000545578000014757,1.35277619999669695971e-02,1.40733399999817265779e-02,1,27,2,1,1,21.0);
INSERT INTO "SAGA_Game" VALUES(3,2,2,'2026-11-22 15:13:53.158102',3.64824549999411829048e-02,5.06490000020676234271e-04,3.69889449999618591391e-02,1,1,2,1,1,0.5);
INSERT INTO "SAGA_Game" VALUES(4,2,2,'2026-11-22 15:13:53.223688',4.13404770000624921522e-02,2.62498999973104218952e-04,4.16029760000355963711e-02,1,0,2,NULL,1,NULL);
INSERT INTO "SAGA_Game" VALUES(5,2,2,'2026-11-22 15:13:53.264735',3.05244710000351915368e-02,3.94393999954445462208e-04,3.0918864999989636999e-02,1,1,2,NULL,1,NULL);
INSERT INTO "SAGA_Game" VALUES(6,2,2,'2026-11-22 15:13:53.286821',9.89253900002040609251e-03,4.28804999955900711938e-04,1.03213439999763068044e-02,1,1,2,1,1,0.5);
INSERT INTO "SAGA_Game" VALUES(7,2,2,'2026-11-22 15:13:53.324136',2.21839499999987310729e-02,3.55958000000100582838e-04,2.25399079999988316558e-02,1,1,2,1,1,0.5);
INSERT INTO "SAGA_Game" VALUES(8,2,2,'2026-11-22 15:13:53.347724',0.00989258399999926,4.74407999945469782687e-04,1.03669919999447301961e-02,1,1,2,1,1,0.5);
CREATE TABLE "SAGA_Platform" (
	"PlatformId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"Name" TEXT NOT NULL, 
	"Fraction" FLOAT, 
	"Quality" INTEGER, 
	"Notes" TEXT NOT NULL, 
	CONSTRAINT "Platform_once" UNIQUE ("Name", "Fraction", "Quality"), 
	CONSTRAINT "Fraction_is_a_share" CHECK ("Fraction" BETWEEN 0 AND 1), 
	CONSTRAINT "Quality_1_to_3" CHECK ("Quality" IN (1, 2, 3))
);
INSERT INTO "SAGA_Platform" VALUES(1,'a machine',1.0,1,'');
CREATE TABLE "SAGA_Player" (
	"GameId" INTEGER NOT NULL, 
	"PowerId" INTEGER NOT NULL, 
	"ContestantId" INTEGER NOT NULL, 
	"Supplies" FLOAT, 
	"Elimination" INTEGER, 
	"Disorder" INTEGER, 
	"Problem" INTEGER, 
	"Winner" INTEGER NOT NULL, 
	"Grade" FLOAT, 
	"Rank" INTEGER, 
	"Cpu" FLOAT, 
	PRIMARY KEY ("GameId", "PowerId"), 
	CONSTRAINT "Problem_0_to_2" CHECK ("Problem" IN (0, 1, 2)), 
	CONSTRAINT "Winner_is_a_truth" CHECK ("Winner" IN (0, 1)), 
	CONSTRAINT "Rank_from_1" CHECK ("Rank" >= 1), 
	CONSTRAINT "Disorder_has_a_Problem" CHECK ("Disorder" IS NULL OR COALESCE("Problem", 0) > 0), 
	CONSTRAINT "Elimination_not_negative" CHECK ("Elimination" >= 0), 
	CONSTRAINT "Disorder_not_negative" CHECK ("Disorder" >= 0), 
	CONSTRAINT "Cpu_not_negative" CHECK ("Cpu" >= 0), 
	FOREIGN KEY("GameId") REFERENCES "SAGA_Game" ("GameId"), 
	FOREIGN KEY("PowerId") REFERENCES "SAGA_Power" ("PowerId"), 
	FOREIGN KEY("ContestantId") REFERENCES "SAGA_Contestant" ("ContestantId")
);
INSERT INTO "SAGA_Player" VALUES(1,1,1,11.0,NULL,NULL,0,0,11.0,2,0.000213425999999739);
INSERT INTO "SAGA_Player" VALUES(1,2,2,12.5,NULL,NULL,0,1,12.5,1,1.57051999999935354423e-04);
INSERT INTO "SAGA_Player" VALUES(2,1,2,21.0,NULL,NULL,0,1,21.0,1,1.83383000000425511188e-04);
INSERT INTO "SAGA_Player" VALUES(2,2,1,2.5,NULL,NULL,0,0,2.5,2,1.66577999999750758775e-04);
INSERT INTO "SAGA_Player" VALUES(3,1,4,0.0,NULL,NULL,0,0,0.0,2,1.14089999999999990032e-02);
INSERT INTO "SAGA_Player" VALUES(3,2,3,0.5,NULL,NULL,0,1,0.5,1,0.011559);
INSERT INTO "SAGA_Player" VALUES(4,1,5,NULL,NULL,NULL,0,0,NULL,2,1.10999999999999987565e-02);
INSERT INTO "SAGA_Player" VALUES(4,2,3,NULL,NULL,NULL,0,1,NULL,1,0.011547);
INSERT INTO "SAGA_Player" VALUES(5,1,3,NULL,NULL,NULL,0,1,NULL,1,1.18179999999999986448e-02);
INSERT INTO "SAGA_Player" VALUES(5,2,6,NULL,NULL,NULL,0,0,NULL,2,1.11419999999999991269e-02);
INSERT INTO "SAGA_Player" VALUES(6,1,3,0.0,NULL,NULL,0,0,0.0,2,0.010255);
INSERT INTO "SAGA_Player" VALUES(6,2,7,0.5,NULL,NULL,0,1,0.5,1,9.57199999999999891209e-03);
INSERT INTO "SAGA_Player" VALUES(7,1,3,0.0,NULL,NULL,0,0,0.0,2,0.010478);
INSERT INTO "SAGA_Player" VALUES(7,2,8,0.5,NULL,NULL,0,1,0.5,1,0.011068);
INSERT INTO "SAGA_Player" VALUES(8,1,8,0.0,NULL,NULL,0,0,0.0,2,1.04479999999999989546e-02);
INSERT INTO "SAGA_Player" VALUES(8,2,3,0.5,NULL,NULL,0,1,0.5,1,0.00988);
CREATE TABLE "SAGA_Power" (
	"PowerId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"VariantId" INTEGER NOT NULL, 
	"Code" TEXT NOT NULL, 
	"Name" TEXT NOT NULL, 
	"Notes" TEXT NOT NULL, 
	CONSTRAINT "Power_once" UNIQUE ("VariantId", "Code"), 
	FOREIGN KEY("VariantId") REFERENCES "SAGA_Variant" ("VariantId")
);
INSERT INTO "SAGA_Power" VALUES(1,1,'Black','Black','');
INSERT INTO "SAGA_Power" VALUES(2,1,'White','White','');
CREATE TABLE "SAGA_Series" (
	"SeriesId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"Name" TEXT NOT NULL, 
	"State" INTEGER NOT NULL, 
	"Weight" FLOAT NOT NULL, 
	"Pure" BOOLEAN NOT NULL, 
	"GameLim" INTEGER, 
	"Selector" TEXT NOT NULL, 
	"Notes" TEXT NOT NULL, 
	CONSTRAINT "State_not_negative" CHECK ("State" >= 0), 
	CONSTRAINT "Weight_not_negative" CHECK ("Weight" >= 0), 
	CONSTRAINT "GameLim_not_negative" CHECK ("GameLim" >= 0), 
	UNIQUE ("Name")
);
INSERT INTO "SAGA_Series" VALUES(1,'cup',2,1.0,1,2,'all-play-all rounds=2 competitors=one,two','');
INSERT INTO "SAGA_Series" VALUES(2,'tune',2,1.0,1,6,'mc_tuner games=6 exploration=0.45 initial_visits=10 initial_wins=5 max_depth=2 opponent=steady parameters: level/4','');
CREATE TABLE "SAGA_SeriesContestant" (
	"SeriesId" INTEGER NOT NULL, 
	"ContestantId" INTEGER NOT NULL, 
	"Weight" FLOAT NOT NULL, 
	"Notes" TEXT NOT NULL, 
	PRIMARY KEY ("SeriesId", "ContestantId"), 
	CONSTRAINT contestant_weight_not_negative CHECK ("Weight" >= 0), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId"), 
	FOREIGN KEY("ContestantId") REFERENCES "SAGA_Contestant" ("ContestantId")
);
INSERT INTO "SAGA_SeriesContestant" VALUES(1,1,1.0,'');
INSERT INTO "SAGA_SeriesContestant" VALUES(1,2,1.0,'');
INSERT INTO "SAGA_SeriesContestant" VALUES(2,3,1.0,'');
INSERT INTO "SAGA_SeriesContestant" VALUES(2,4,1.0,'');
INSERT INTO "SAGA_SeriesContestant" VALUES(2,5,1.0,'');
INSERT INTO "SAGA_SeriesContestant" VALUES(2,6,1.0,'');
INSERT INTO "SAGA_SeriesContestant" VALUES(2,7,1.0,'');
INSERT INTO "SAGA_SeriesContestant" VALUES(2,8,1.0,'');
CREATE TABLE "SAGA_SeriesSetting" (
	"SeriesId" INTEGER NOT NULL, 
	"SettingId" INTEGER NOT NULL, 
	"Weight" FLOAT NOT NULL, 
	"Notes" TEXT NOT NULL, 
	PRIMARY KEY ("SeriesId", "SettingId"), 
	CONSTRAINT setting_weight_not_negative CHECK ("Weight" >= 0), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId"), 
	FOREIGN KEY("SettingId") REFERENCES "SAGA_Setting" ("SettingId")
);
INSERT INTO "SAGA_SeriesSetting" VALUES(1,1,1.0,'');
INSERT INTO "SAGA_SeriesSetting" VALUES(2,2,1.0,'');
CREATE TABLE "SAGA_Setting" (
	"SettingId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"PlatformId" INTEGER, 
	"VariantId" INTEGER NOT NULL, 
	"Obsolete" BOOLEAN NOT NULL, 
	"Level" INTEGER, 
	"SL" INTEGER, 
	"IL" INTEGER, 
	"PTL" INTEGER, 
	"MTL" INTEGER, 
	"RTL" INTEGER, 
	"BTL" INTEGER, 
	"AOA" BOOLEAN, 
	"PDA" BOOLEAN, 
	"NPR" BOOLEAN, 
	"NPB" BOOLEAN, 
	"Notes" TEXT NOT NULL, 
	CONSTRAINT "Level_not_negative" CHECK ("Level" >= 0), 
	CONSTRAINT "SL_not_negative" CHECK ("SL" >= 0), 
	CONSTRAINT "IL_not_negative" CHECK ("IL" >= 0), 
	CONSTRAINT "PTL_not_negative" CHECK ("PTL" >= 0), 
	CONSTRAINT "MTL_not_negative" CHECK ("MTL" >= 0), 
	CONSTRAINT "RTL_not_negative" CHECK ("RTL" >= 0), 
	CONSTRAINT "BTL_not_negative" CHECK ("BTL" >= 0), 
	FOREIGN KEY("PlatformId") REFERENCES "SAGA_Platform" ("PlatformId"), 
	FOREIGN KEY("VariantId") REFERENCES "SAGA_Variant" ("VariantId")
);
INSERT INTO "SAGA_Setting" VALUES(1,1,1,0,0,NULL,NULL,NULL,60,NULL,NULL,NULL,NULL,NULL,NULL,'{"game": "go", "move_limit": 60, "scorer": "internal", "settings": {"board_size": 5, "komi": 0.5}}');
INSERT INTO "SAGA_Setting" VALUES(2,1,1,0,0,NULL,NULL,NULL,60,NULL,NULL,NULL,NULL,NULL,NULL,'{"game": "go", "move_limit": 1000, "scorer": "internal", "settings": {"board_size": 5, "komi": 0.5}}');
CREATE TABLE "SAGA_Variant" (
	"VariantId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"Name" TEXT NOT NULL, 
	"Powers" INTEGER NOT NULL, 
	"Supplies" FLOAT, 
	"FirstYear" INTEGER, 
	"FirstSeason" TEXT, 
	"Notes" TEXT NOT NULL, 
	CONSTRAINT "Powers_at_least_1" CHECK ("Powers" >= 1), 
	UNIQUE ("Name")
);
INSERT INTO "SAGA_Variant" VALUES(1,'go-5x5',2,NULL,NULL,NULL,'');
CREATE VIEW "ARENA_Score" AS 
SELECT p."GameId", p."PowerId",
  CASE WHEN g."Winners" = 0 THEN 0.0
       WHEN p."Winner" = 1 THEN 1.0 * v."Powers" / g."Winners" - 1.0
       ELSE -1.0 END AS "Score"
FROM "SAGA_Player" p
JOIN "SAGA_Game" g ON g."GameId" = p."GameId"
JOIN "SAGA_Setting" s ON s."SettingId" = g."SettingId"
JOIN "SAGA_Variant" v ON v."VariantId" = s."VariantId";
CREATE VIEW "Dip_Bot" AS 
SELECT c."ContestantId" AS "Id",
  l."Family" || CASE WHEN l."Release" = '' THEN '' ELSE ' ' || l."Release" END
    || CASE WHEN c."Personality" = '' THEN '' ELSE '~' || c."Personality" END AS "Name",
  CASE WHEN l."Name" = '' THEN l."Family" ELSE l."Name" END
    || CASE WHEN l."Version" = '' THEN '' ELSE ' ' || l."Version" END AS "Title"
FROM "SAGA_Contestant" c
JOIN "SAGA_Client" l ON l."ClientId" = c."ClientId";
CREATE VIEW "Dip_Game" AS 
SELECT g."GameId" AS "Id", e."Name" AS "Tournament", g."Finished", g."SetupTime", g."PlayTime", g."TotalTime",
  g."Years", g."Survivors", g."Leaders", g."Winners", COALESCE(v."Supplies", 1) AS "MaxSC",
  s."VariantId" AS "Variant", s."Level", s."SL" AS "Kill", s."PTL", s."MTL", s."RTL", s."BTL",
  s."AOA", s."NPR", s."NPB"
FROM "SAGA_Game" g
JOIN "SAGA_Series" e ON e."SeriesId" = g."SeriesId"
JOIN "SAGA_Setting" s ON s."SettingId" = g."SettingId"
JOIN "SAGA_Variant" v ON v."VariantId" = s."VariantId";
CREATE VIEW "Dip_Player" AS 
WITH RECURSIVE play AS (
  SELECT g."SeriesId" AS series, p."ContestantId" AS bot, p."GameId" AS game, p."PowerId" AS power,
    CASE WHEN v."Supplies" IS NULL THEN p."Winner" ELSE p."Supplies" END AS sc,
    CASE WHEN p."Elimination" IS NOT NULL THEN p."Elimination"
         WHEN v."Supplies" IS NULL AND p."Winner" = 0 AND g."Winners" > 0 THEN g."Years" END AS years,
    p."Winner" AS won,
    CASE WHEN g."MaxSupplies" IS NULL THEN p."Winner"
         WHEN p."Supplies" = g."MaxSupplies" THEN 1 ELSE 0 END AS led,
    CASE WHEN g."MaxSupplies" IS NULL THEN p."Winner"
         WHEN p."Supplies" > 0 THEN 1 ELSE 0 END AS survived,
    CASE WHEN g."Winners" = 0 THEN 0 ELSE 1 END AS decided,
    ROW_NUMBER() OVER (PARTITION BY g."SeriesId", p."ContestantId" ORDER BY p."GameId", p."PowerId") AS number
  FROM "SAGA_Player" p
  JOIN "SAGA_Game" g ON g."GameId" = p."GameId"
  JOIN "SAGA_Setting" s ON s."SettingId" = g."SettingId"
  JOIN "SAGA_Variant" v ON v."VariantId" = s."VariantId"
), taken AS MATERIALIZED (
  SELECT series, bot, game, power, sc, years, number, decided,
    1.0 * led * COUNT(*) OVER pot / NULLIF(SUM(led) OVER pot, 0) AS leader,
    1.0 * survived * COUNT(*) OVER pot / NULLIF(SUM(survived) OVER pot, 0) AS survivor,
    1.0 * won * COUNT(*) OVER pot / NULLIF(SUM(won) OVER pot, 0) AS winner
  FROM play WINDOW pot AS (PARTITION BY game)
), averages AS (
  SELECT series, bot, CAST(0 AS BIGINT) AS number, CAST(1.0 AS DOUBLE PRECISION) AS strength,
    CAST(1.0 AS DOUBLE PRECISION) AS tenacity, CAST(1.0 AS DOUBLE PRECISION) AS fitness
  FROM taken WHERE number = 1
  UNION ALL
  SELECT a.series, a.bot, t.number,
    CASE WHEN t.decided = 0 THEN a.strength ELSE 0.9 * a.strength + 0.1 * t.leader END,
    CASE WHEN t.decided = 0 THEN a.tenacity ELSE 0.9 * a.tenacity + 0.1 * t.survivor END,
    CASE WHEN t.decided = 0 THEN a.fitness ELSE 0.9 * a.fitness + 0.1 * t.winner END
  FROM averages a JOIN taken t ON t.series = a.series AND t.bot = a.bot AND t.number = a.number + 1
)
SELECT t.game AS "Game", t.power AS "Power", t.bot AS "Bot", t.sc AS "SC", t.years AS "Years",
  a.strength AS "Strength", a.tenacity AS "Tenacity", a.fitness AS "Fitness"
FROM taken t
JOIN averages a ON a.series = t.series AND a.bot = t.bot AND a.number = t.number;
CREATE VIEW "Dip_Power" AS 
SELECT "PowerId" AS "Id", "VariantId" AS "Variant", "Code" FROM "SAGA_Power";
CREATE VIEW "Dip_Variant" AS 
SELECT "VariantId" AS "Id", "Name", "Powers", "Supplies" AS "SC", "FirstYear" AS "Year0",
  "FirstSeason" AS "Season0"
FROM "SAGA_Variant";
CREATE VIEW "ARENA_Move" AS 
SELECT g."GameId", m.key + 1 AS "Ply",
  json_extract(m.value, '$[0]') AS "Seat",
  json_extract(m.value, '$[1]') AS "Text",
  json_extract(m.value, '$[2]') AS "Seconds",
  json_extract(m.value, '$[8]') AS "LegalMoves",
  json_extract(m.value, '$[9]') AS "Interaction",
  json_extract(m.value, '$[10]') AS "Board",
  COALESCE(json_extract(m.value, '$[4]'), '') AS "Comment",
  json_extract(m.value, '$[6]') AS "ClockSeconds",
  json_extract(m.value, '$[7]') AS "ClockStones",
  COALESCE(json_extract(m.value, '$[5]'), 0) AS "Opening"
FROM "ARENA_Game" g, json_each(g."Moves") m;
CREATE VIEW "ARENA_MoveValue" AS 
SELECT g."GameId", m.key + 1 AS "Ply", CAST(v.key AS INTEGER) AS "Seat", v.value AS "Value"
FROM "ARENA_Game" g, json_each(g."Moves") m, json_each(m.value, '$[3]') v
WHERE v.type <> 'null';
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('SAGA_Series',2);
INSERT INTO "sqlite_sequence" VALUES('SAGA_Platform',1);
INSERT INTO "sqlite_sequence" VALUES('SAGA_Client',8);
INSERT INTO "sqlite_sequence" VALUES('SAGA_Contestant',8);
INSERT INTO "sqlite_sequence" VALUES('SAGA_Variant',1);
INSERT INTO "sqlite_sequence" VALUES('SAGA_Power',2);
INSERT INTO "sqlite_sequence" VALUES('SAGA_Setting',2);
INSERT INTO "sqlite_sequence" VALUES('SAGA_Game',8);
COMMIT;
